package uidstatus

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

// still is a generator whose Stats do not change.
type still struct{ stats uid.Stats }

func (g still) Stats() uid.Stats { return g.stats }

// calm is a cached generator that is in order.
func calm() still {
	return still{uid.Stats{
		Issued: 1200, Remaining: 64336,
		Clock: &uid.ClockStats{Layout: bits.Default(), LayoutEnd: bits.Default().End(), Worker: 7},
		Ring: &uid.RingStats{
			Capacity: 65536, Threshold: 32768, Refills: 1,
			OldestAge: 400 * time.Millisecond, MaxAge: time.Minute, MaxBorrow: 24 * time.Hour, Borrowed: 7 * time.Second,
		},
	}}
}

// ringless is a generator without a ring.
func ringless(layout bits.Layout, worker int64) still {
	return still{uid.Stats{Clock: &uid.ClockStats{Layout: layout, LayoutEnd: layout.End(), Worker: worker}}}
}

// at returns the page with its clock at noon, in a process that is always the same.
func at(t testing.TB, generators map[string]Generator, more map[string]uid.Stats) *Page {
	t.Helper()
	p, err := New(generators, Config{More: func() map[string]uid.Stats { return more }})
	if err != nil {
		t.Fatal(err)
	}
	p.now = func() time.Time { return noon }
	program, uidring := "v1.2.3", "v0.4.0"
	p.process = process{Host: "host-7", PID: 4711, Program: "shop", Version: &program, Uidring: &uidring, Started: noon.Add(-192 * time.Minute)}
	return p
}

// get asks a handler that is mounted at the root.
func get(t testing.TB, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	if r.Host == "example.com" { // httptest's own
		r.Host = "localhost:8080"
	}
	h.ServeHTTP(w, r)
	return w
}
