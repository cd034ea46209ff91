package ringbuffer

import (
	"testing"
	"unsafe"

	"github.com/uidring/uidring/internal/contention"
)

// What takers read for each id lies at least a cache line's distance from the
// position, which they write, and from what is written under the mutex. Other objects
// lie as far from the position: a ring stands behind a pad.
func TestHotFieldsStandApart(t *testing.T) {
	var r Ring
	position := unsafe.Offsetof(r.position)
	if position != 0 {
		t.Errorf("position lies at %d, want 0, so that the compiler inlines Next", position)
	}
	for name, at := range map[string]uintptr{
		"current": unsafe.Offsetof(r.current), "rejectedTake": unsafe.Offsetof(r.rejectedTake), "threshold": unsafe.Offsetof(r.threshold),
	} {
		if at < position+contention.LineSize || at+contention.LineSize > unsafe.Offsetof(r.mu) {
			t.Errorf("%s lies at %d, between the position at %d and the mutex at %d: too near", name, at, position, unsafe.Offsetof(r.mu))
		}
	}
	for name, at := range map[string]uintptr{
		"mu": unsafe.Offsetof(r.mu), "queued": unsafe.Offsetof(r.queued), "closed": unsafe.Offsetof(r.closed),
	} {
		if at < position+contention.LineSize {
			t.Errorf("%s lies at %d, too near to the position at %d", name, at, position)
		}
	}
	// A span that waits is as small as the documentation says.
	if got := unsafe.Sizeof(span{}); got > 48 {
		t.Errorf("a span takes %d bytes, want at most 48", got)
	}
}
