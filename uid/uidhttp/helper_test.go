package uidhttp

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when everything in these tests happens.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// still is a generator that stands as it was set.
type still struct {
	layout bits.Layout
	stats  uid.Stats
}

func (g still) Stats() uid.Stats    { return g.stats }
func (g still) Layout() bits.Layout { return g.layout }
func (g still) Parse(id uid.ID) (bits.Parts, error) {
	a, err := bits.NewAllocator(g.layout)
	if err != nil {
		return bits.Parts{}, err
	}
	return a.Parse(int64(id))
}

// calm is a cached generator that is in order.
func calm() still {
	return still{bits.Default, uid.Stats{
		Worker: 7, Issued: 1200, LayoutEnd: bits.Default.End(),
		Capacity: 65536, Threshold: 32768, Remaining: 64336, Refills: 1,
		OldestAge: 400 * time.Millisecond, MaxBorrow: 24 * time.Hour, Borrowed: 7 * time.Second,
	}}
}

// at returns the handler with its clock at noon.
func at(generators map[string]Generator) http.Handler {
	h := Handler(generators).(*handler)
	h.now = func() time.Time { return noon }
	return h
}

// get asks a handler that is mounted at the root.
func get(t *testing.T, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}
