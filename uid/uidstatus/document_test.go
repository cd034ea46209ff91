package uidstatus

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// troubled has a value in every field.
func troubled() still {
	g := calm()
	s := &g.stats
	s.Clock.WorkerChanges, s.RejectedTakes, s.Waited = 2, 1204, 1500*time.Millisecond
	s.Clock.LayoutEnd, s.Clock.LayoutEndsSoon = noon.AddDate(0, 2, 0), true
	s.Clock.ReservedUntil, s.Clock.LeaseError = noon.Add(7*time.Minute), errors.New("connection <refused>")
	s.Ring.Helps, s.Ring.RejectedPuts, s.Dropped, s.Ring.OldestAge = 3, 4, 5, -2*time.Hour
	s.Ring.Borrowed = 24 * time.Hour
	s.LastError = &uid.BorrowLimitError{Limit: 24 * time.Hour, Retry: time.Second}
	return g
}

// lost is a generator without a number, without ids and without a limit.
func lost() still {
	g := calm()
	s := &g.stats
	s.Clock.LeaseError, s.Closed, s.Remaining, s.Ring.MaxBorrow, s.Ring.MaxAge = errors.New("gone"), true, 0, -1, -1
	return g
}

// several are generators of every kind with a clock.
func several() map[string]Generator {
	return map[string]Generator{"lost": lost(), "orders": calm(), "sessions": ringless(bits.Snowflake(), 3), "troubled": troubled()}
}

// counter is a segment with both ranges.
func counter(tag string, change func(s *uid.Stats, l *uid.LoadStats)) uid.Stats {
	l := &uid.LoadStats{
		From: "mysql table leaf_alloc", Tag: tag, InUse: uid.Run{First: 1001, N: 1000}, Next: uid.Run{First: 2001, N: 1000},
		Step: 1000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}
	s := uid.Stats{Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800, Loads: l}
	change(&s, l)
	return s
}

// counters are segments of every kind, and a client.
func counters() map[string]uid.Stats {
	return map[string]uid.Stats{
		"invoices": counter("invoices", func(*uid.Stats, *uid.LoadStats) {}),
		"parcels": counter("orders", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining, l.Loading = uid.Run{}, 250, 50*time.Millisecond
		}),
		"unavailable": counter("unavailable", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining = uid.Run{}, 0
			s.LastError = &segment.LoadError{Store: "mysql", Tag: "unavailable", Err: errors.New("connection <refused>"), Retry: time.Second}
		}),
		"used": counter("used", func(s *uid.Stats, l *uid.LoadStats) {
			l.Next, s.Remaining, s.LastError = uid.Run{}, 10, segment.ErrUsedUp
		}),
		"closed": counter("closed", func(s *uid.Stats, l *uid.LoadStats) { s.Closed, s.Remaining, l.Returned = true, 0, 800 }),
		"remote": counter("orders", func(s *uid.Stats, l *uid.LoadStats) {
			s.Dropped = 5
			*l = uid.LoadStats{From: "http://b/v1/orders/runs", Tag: "orders", Instance: "b", Changes: 4, Step: 3000, Loads: 9, Failures: 6, LoadTime: 2 * time.Millisecond}
		}),
	}
}

// TestDocument holds the names and forms that others read.
func TestDocument(t *testing.T) {
	h := at(t, several(), counters())
	var got bytes.Buffer
	if err := json.Indent(&got, get(t, h, "/stats.json").Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/stats.json", got.Bytes())

	// The package comment shows every field, and none that there is not.
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(got.String(), "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), `": `); ok && !strings.Contains(string(doc), name+`":`) {
			t.Errorf("the package comment lacks %s\"", name)
		}
	}
	for _, line := range strings.Split(string(doc), "\n") {
		line = strings.TrimLeft(line, "/ ")
		if name, _, ok := strings.Cut(line, `": `); ok && name[0] == '"' &&
			!strings.Contains(got.String(), name+`":`) && !strings.Contains(`"id" "tick" "sequence" "names" "error"`, name) {
			t.Errorf(`the package comment has %s", which stats.json has not`, name)
		}
	}
}

// An instant that RFC 3339 cannot write does not spoil the answer.
func TestFarAway(t *testing.T) {
	far := bits.Layout{TimeBits: 63, Epoch: bits.Default().Epoch, Unit: time.Second}
	h := at(t, map[string]Generator{"far": ringless(far, 0)}, nil)
	for target, want := range map[string]string{
		"/stats.json":                         `"layout_end":null`,
		"/decode.json?id=9223372036854775807": `"time":null`,
		"/":                                   "after the year 9999",
		"/?id=9223372036854775807":            "in more than 292 years",
	} {
		if w := get(t, h, target); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", target, w.Code, w.Body, want)
		}
	}
}
