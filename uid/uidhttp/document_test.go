package uidhttp

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

// TestDocument holds the names and forms that others read.
func TestDocument(t *testing.T) {
	h := at(map[string]Generator{
		"orders":   calm(),
		"sessions": still{bits.Snowflake, uid.Stats{Worker: 3, LayoutEnd: bits.Snowflake.End()}},
		"troubled": troubled(),
	})
	var got bytes.Buffer
	if err := json.Indent(&got, get(t, h, "/stats.json").Body.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/stats.json"
	if os.Getenv("UIDRING_UPDATE") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("stats.json is\n%s\nwant that of %s, to be written anew with UIDRING_UPDATE=1", got.Bytes(), golden)
	}

	// The package comment shows every field, and none that there is not.
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(want), "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), `": `); ok && !strings.Contains(string(doc), name+`":`) {
			t.Errorf("the package comment lacks %s\"", name)
		}
	}
	for _, line := range strings.Split(string(doc), "\n") {
		line = strings.TrimLeft(line, "/ ")
		if name, _, ok := strings.Cut(line, `": `); ok && name[0] == '"' &&
			!strings.Contains(string(want), name+`":`) && !strings.Contains(`"id" "tick" "sequence" "names" "error"`, name) {
			t.Errorf(`the package comment has %s", which stats.json has not`, name)
		}
	}
}

// An instant that RFC 3339 cannot write does not spoil the answer.
func TestFarAway(t *testing.T) {
	far := bits.Layout{TimeBits: 63, Epoch: bits.Default.Epoch, Unit: time.Second}
	h := at(map[string]Generator{"far": still{far, uid.Stats{LayoutEnd: far.End()}}})
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

func TestJudge(t *testing.T) {
	gone := errors.New("gone")
	for _, tt := range []struct {
		name  string
		set   func(*uid.Stats)
		state state
		notes []string
	}{
		{"calm", func(*uid.Stats) {}, fine, nil},
		{"layout over", func(s *uid.Stats) { s.LayoutEnd, s.LayoutEndsSoon = noon, true }, failing, []string{"has run out of time"}},
		{"layout ends", func(s *uid.Stats) { s.LayoutEnd, s.LayoutEndsSoon = noon.AddDate(0, 0, 40), true }, warning,
			[]string{"in 40 days, on 2026-04-10"}},
		{"leased", func(s *uid.Stats) { s.ReservedUntil = noon.Add(time.Minute) }, fine, nil},
		{"not renewed", func(s *uid.Stats) { s.ReservedUntil, s.LeaseError = noon.Add(time.Minute), gone }, warning, []string{"Ids go on for 1 min: gone"}},
		{"expired", func(s *uid.Stats) { s.ReservedUntil, s.LeaseError = noon, gone }, failing, []string{"No time is reserved under a worker number: gone"}},
		{"lost", func(s *uid.Stats) { s.LeaseError = gone }, failing, []string{"No time is reserved under a worker number: gone"}},
		{"lost, said once", func(s *uid.Stats) {
			s.LeaseError, s.Remaining, s.LastError = gone, 0, &uid.ReservationError{Err: gone}
		}, failing, []string{"No time is reserved"}},
		{"closed", func(s *uid.Stats) { s.Closed = true }, failing, []string{"is closed"}},
		{"near the bound", func(s *uid.Stats) { s.Borrowed = 20 * time.Hour }, warning, []string{"nears its bound, 24 h"}},
		{"no bound", func(s *uid.Stats) { s.Borrowed, s.MaxBorrow = 2000*time.Hour, -1 }, fine, nil},
		{"at the bound", func(s *uid.Stats) { s.MaxBorrow, s.LastError = time.Hour, &uid.BorrowLimitError{Limit: time.Hour} }, warning, []string{"at its bound, 1 h"}},
		{"nothing to be borrowed", func(s *uid.Stats) {
			s.Remaining, s.MaxBorrow, s.LastError = 0, 1, &uid.BorrowLimitError{Limit: 1}
		}, warning, []string{"No time may be borrowed"}},
		{"nothing to be borrowed, and ids left", func(s *uid.Stats) { s.MaxBorrow, s.LastError = 1, &uid.BorrowLimitError{Limit: 1} }, fine, nil},
		{"at the bound, empty", func(s *uid.Stats) { s.Remaining, s.LastError = 0, &uid.BorrowLimitError{Limit: time.Hour} }, warning, []string{"at its bound"}},
		{"at a bound that a full ring reaches", func(s *uid.Stats) {
			s.MaxBorrow, s.LastError = 5*time.Second, &uid.BorrowLimitError{Limit: 5 * time.Second}
		}, fine, nil},
		{"being reserved", func(s *uid.Stats) { s.LastError = &uid.ReservationError{} }, fine, nil},
		{"being reserved, empty", func(s *uid.Stats) { s.Remaining, s.LastError = 0, &uid.ReservationError{} }, warning, []string{"more time is being reserved"}},
		{"not filled", func(s *uid.Stats) { s.LastError = gone }, warning, []string{"could not be filled: gone"}},
		{"empty", func(s *uid.Stats) { s.LastError, s.Remaining = gone, 0 }, failing, []string{"No id is ready: gone"}},
		{"all of it", func(s *uid.Stats) { *s = troubled().stats }, warning, []string{"runs out of time", "not being renewed", "at its bound"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := calm().stats
			tt.set(&s)
			state, notes := judge(bits.Default, s, noon)
			if state != tt.state || len(notes) != len(tt.notes) {
				t.Fatalf("%s %q, want %s %q", state, notes, tt.state, tt.notes)
			}
			for i, want := range tt.notes {
				if !strings.Contains(notes[i], want) {
					t.Errorf("note %q, want %q", notes[i], want)
				}
			}
		})
	}
}
