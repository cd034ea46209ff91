package uidstatus

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	noon     = statstest.Noon
	counters = statstest.Counters
)

func calm() uid.Reporter { return statstest.Still(statstest.Calm()) }
func lost() uid.Reporter { return statstest.Still(statstest.Lost()) }

// at returns the page with its clock at noon, in a process that is always the same.
func at(t testing.TB, generators map[string]uid.Reporter, more map[string]uid.Stats) *Page {
	t.Helper()
	p, err := New(generators, Config{More: func() map[string]uid.Stats { return more }})
	need.Must(t, err)
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
