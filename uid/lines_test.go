package uid

import (
	"testing"
	"unsafe"

	"github.com/uidring/uidring/internal/cacheline"
)

// What every call reads lies at least a cache line's distance from what calls
// write.
func TestHotFieldsStandApart(t *testing.T) {
	var c Cached
	var d Default
	var s Slots
	type field struct {
		name string
		at   uintptr
	}
	for _, test := range []struct {
		name          string
		read, written []field
	}{
		{"Cached", []field{
			{"ring", unsafe.Offsetof(c.ring)},
			{"policy", unsafe.Offsetof(c.policy)},
		}, []field{
			{"rejected", unsafe.Offsetof(c.rejected) + cacheline.Size - 8},
			{"starved", unsafe.Offsetof(c.starved) + cacheline.Size - 8},
			{"waited", unsafe.Offsetof(c.waited)},
		}},
		{"Default", []field{
			{"bits", unsafe.Offsetof(d.bits)},
			{"grant", unsafe.Offsetof(d.grant)},
			{"anchor", unsafe.Offsetof(d.anchor)},
		}, []field{
			{"last", unsafe.Offsetof(d.last) + cacheline.Size - 8},
			{"earlier", unsafe.Offsetof(d.earlier)},
			{"rejected", unsafe.Offsetof(d.rejected) + cacheline.Size - 8},
			{"waited", unsafe.Offsetof(d.waited)},
		}},
		{"Slots", []field{
			{"slots", unsafe.Offsetof(s.slots)},
			{"mask", unsafe.Offsetof(s.mask)},
			{"grant", unsafe.Offsetof(s.grant)},
			{"issuer", unsafe.Offsetof(s.issuer)},
		}, []field{
			{"earlier", unsafe.Offsetof(s.earlier)},
			{"rejected", unsafe.Offsetof(s.rejected) + cacheline.Size - 8},
			{"waited", unsafe.Offsetof(s.waited)},
		}},
	} {
		for _, read := range test.read {
			for _, written := range test.written {
				if gap := max(read.at, written.at) - min(read.at, written.at); gap < cacheline.Size-8 {
					t.Errorf("%s: %s, which calls read, lies %d bytes from %s, which they write", test.name, read.name, gap, written.name)
				}
			}
		}
	}
}
