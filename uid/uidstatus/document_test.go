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
	s.WorkerChanges, s.RejectedTakes, s.Waited = 2, 1204, 1500*time.Millisecond
	s.LayoutEnd, s.LayoutEndsSoon = noon.AddDate(0, 2, 0), true
	s.ReservedUntil, s.LeaseError = noon.Add(7*time.Minute), errors.New("connection <refused>")
	s.Helps, s.RejectedPuts, s.Dropped, s.OldestAge = 3, 4, 5, -2*time.Hour
	s.Borrowed = 24 * time.Hour
	s.LastError = &uid.BorrowLimitError{Limit: 24 * time.Hour, Retry: time.Second}
	return g
}

// lost is a generator without a number, without ids and without a limit.
func lost() still {
	g := calm()
	s := &g.stats
	s.LeaseError, s.Closed, s.Remaining, s.MaxBorrow, s.MaxAge = errors.New("gone"), true, 0, -1, -1
	return g
}

// several are generators of every kind.
func several() map[string]Generator {
	return map[string]Generator{
		"lost":     lost(),
		"orders":   calm(),
		"sessions": still{bits.Snowflake(), uid.Stats{Worker: 3, LayoutEnd: bits.Snowflake().End()}},
		"troubled": troubled(),
	}
}

// counters are segments of every kind.
func counters() map[string]segment.Stats {
	ready := segment.Stats{
		Store: "mysql table leaf_alloc", Tag: "invoices", Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond,
		Remaining: 1800, InUse: segment.Range{First: 1001, End: 2001}, Next: segment.Range{First: 2001, End: 3001},
		Step: 1000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}
	loading, unavailable, used, closed := ready, ready, ready, ready
	loading.Tag, loading.Next, loading.Remaining, loading.Loading = "orders", segment.Range{}, 250, 50*time.Millisecond
	unavailable.Tag, unavailable.Next, unavailable.Remaining = "unavailable", segment.Range{}, 0
	unavailable.LastError = &segment.LoadError{Store: "mysql", Tag: "unavailable", Err: errors.New("connection <refused>"), Retry: time.Second}
	used.Tag, used.Next, used.Remaining, used.LastError = "used", segment.Range{}, 10, segment.ErrUsedUp
	closed.Tag, closed.Closed, closed.Remaining, closed.Returned = "closed", true, 0, 800
	return map[string]segment.Stats{"invoices": ready, "orders": loading, "unavailable": unavailable, "used": used, "closed": closed}
}

// TestDocument holds the names and forms that others read.
func TestDocument(t *testing.T) {
	h := at(t, several())
	h.counters = counters
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
	h := at(t, map[string]Generator{"far": still{far, uid.Stats{LayoutEnd: far.End()}}})
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
