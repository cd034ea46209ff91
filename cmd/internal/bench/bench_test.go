package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/measure"
	"github.com/uidring/uidring/uid"
)

// Few enough for the slowest, which makes 256 in 10 ms, and more than it makes in
// one go.
const ids = 2000

// The loops that are measured make ids, and none twice.
func TestIDsAreDistinct(t *testing.T) {
	const goroutines = 4
	for _, row := range all() {
		if row.Name == measure.Now {
			continue // makes no ids
		}
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			in, err := row.Open()
			if err != nil {
				t.Fatal(err)
			}
			var (
				made [goroutines][]uint64
				wg   sync.WaitGroup
			)
			for g := range made {
				wg.Go(func() {
					for range ids / goroutines {
						id, err := in.Loop(1)
						if err != nil {
							t.Error(err)
							return
						}
						made[g] = append(made[g], id)
					}
				})
			}
			wg.Wait()
			if in.Close != nil {
				if err := in.Close(); err != nil {
					t.Error(err)
				}
			}
			seen := make(map[uint64]bool, ids)
			for _, list := range made {
				for _, id := range list {
					if seen[id] {
						t.Fatalf("%d was made twice", id)
					}
					seen[id] = true
				}
			}
		})
	}
}

func TestRowsAreComplete(t *testing.T) {
	names := make(map[string]bool)
	for _, row := range all() {
		if row.Name == "" || names[row.Name] {
			t.Errorf("the name %q is empty, or there twice", row.Name)
		}
		names[row.Name] = true
		for field, text := range map[string]string{"Package": row.Package, "Cap": row.Cap, "GivesUp": row.GivesUp} {
			if text == "" {
				t.Errorf("%s has no %s", row.Name, field)
			}
			if strings.ContainsAny(text+row.Setup, "|\n") {
				t.Errorf("%s: %s would break a cell of a table", row.Name, field)
			}
		}
		if row.Kind == peer && !row.ReadsClock && !strings.Contains(row.GivesUp, "time") {
			t.Errorf("%s reads no clock, but its GivesUp does not say that it has no time", row.Name)
		}
		for _, l := range row.Bars {
			if l.Base != fastestPeer && !slices.ContainsFunc(all(), func(row impl) bool { return row.Name == l.Base }) {
				t.Errorf("%s: the bar's base %q is no row", row.Name, l.Base)
			}
		}
	}
}

// measured returns results without measuring. Floors cost 100 ns, peers 90, and what
// is ours 1.
func measured() *results {
	r := &results{Machine: measure.ThisMachine(), Count: 1, Time: time.Second, Paced: time.Second, Started: time.Unix(0, 0)}
	r.plan()
	for _, c := range r.cells {
		c.NsPerID, c.IDs, c.Calls = measure.Series{90}, 1000, 1000
		if strings.HasPrefix(c.Name, "Cached") || strings.HasPrefix(c.Name, "Segment") || strings.HasPrefix(c.Name, "Client") || strings.HasPrefix(c.Name, "boost") {
			c.NsPerID, c.Ring = measure.Series{1}, []uid.Stats{{Issued: 1000, Ring: &uid.RingStats{Borrowed: 5}}}
		}
	}
	for _, row := range all() {
		for _, s := range crowds() {
			if c := r.cell(row.Name, s); c != nil && row.Kind < peer {
				c.NsPerID = measure.Series{[]float64{100, 1}[row.Kind]}
			}
		}
	}
	for _, f := range r.memory {
		f.Heap = measure.Series{2000}
	}
	for _, w := range r.writes {
		w.Made, w.First, w.Second, w.Step = measure.Series{float64(w.Rate)}, measure.Series{3}, measure.Series{2}, measure.Series{1000}
	}
	r.startup.Took = measure.Series{15}
	for i, p := range r.paces {
		for q := range p.Latency {
			p.Latency[q], p.Inside[q] = measure.Series{float64(i + q)}, measure.Series{float64(i + q)}
		}
		p.Rate, p.Ring = measure.Series{1e6}, []uid.Stats{{Ring: new(uid.RingStats)}}
	}
	return r
}

func TestPage(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 8} {
		before := runtime.GOMAXPROCS(cores)
		r := measured()
		text, err := r.page("a command")
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range []string{"%!", "NaN", "Inf", "\n\n\n", "<no value>", "MISSED"} {
			if at := strings.Index(text, fault); at >= 0 {
				t.Errorf("%d cores: %q in %q", cores, fault, text[max(at-80, 0):at+len(fault)])
			}
		}
		for _, row := range all() {
			for _, part := range []string{row.Cap, row.GivesUp, row.Setup, label(row)} {
				if !strings.Contains(text, part) {
					t.Errorf("%d cores: %s: %q is missing", cores, row.Name, part)
				}
			}
		}
		columns := 0
		for line := range strings.Lines(text) {
			now := strings.Count(line, "|")
			if now > 0 && columns > 0 && now != columns {
				t.Errorf("%d cores: a row of %d columns among %d: %s", cores, now, columns, line)
			}
			columns = now
		}
	}
}

// A bar that is missed is on the page twice, and counts as a loss.
func TestMissedBars(t *testing.T) {
	for _, c := range []struct {
		ns     float64
		missed int
	}{{135, 0}, {135.4, 1}} {
		r := measured()
		r.cell(measure.CachedNext, one).NsPerID = measure.Series{c.ns}
		text, err := r.page("a command")
		if err != nil || len(r.missed()) != c.missed || strings.Count(text, "**MISSED**") != c.missed || strings.Count(text, "A bar is missed: `Cached.Next`, 1 goroutine") != c.missed {
			t.Errorf("%v against 100 ns: %+v, %v", c.ns, r.missed(), err)
		}
		if (c.missed == 1) != strings.Contains(text, "**1 of ") {
			t.Errorf("%v against 100 ns: the page counts otherwise", c.ns)
		}
	}
	r := measured()
	r.cell(measure.CachedNext, one).NsPerID = measure.Series{135.4}
	if text := r.missed()[0].Measured; !strings.HasPrefix(text, "1.354 × ") {
		t.Errorf("135.4 against 100 ns: %q reads as the bar of 1.35", text)
	}
	r = measured()
	r.cell(measure.CachedAll, one).NsPerID = measure.Series{math.NaN()}
	if len(r.missed()) != 1 {
		t.Errorf("no figure: %+v", r.missed())
	}
	r = measured()
	r.cell(measure.CachedAll, setting{Goroutines: 64}).NsPerID = measure.Series{1.3}
	if missed := r.missed(); len(missed) != 1 || missed[0].What != "`Cached.All`, from 2 to 64 goroutines" {
		t.Errorf("64 loops cost 1.3 times what 2 cost: %+v", missed)
	}
	r = measured()
	r.paces[len(r.paces)-1].Inside[2] = measure.Series{2001, 2002}
	if missed := r.missed(); len(missed) != 1 || missed[0].What != "`Segment.Next, loads of 50ms`, at a million a second" {
		t.Errorf("p99.99 of 2,001 ns: %+v", missed)
	}
	r = measured()
	r.paces[len(r.paces)-1].Ring = []uid.Stats{{Ring: &uid.RingStats{Helps: 1}}}
	if missed := r.missed(); len(missed) != 1 || missed[0].What != "`Segment.Next, loads of 50ms`, at a million a second" {
		t.Errorf("a call that finds the ring empty: %+v", missed)
	}
	r = measured()
	r.writes[1].Second = measure.Series{601}
	if missed := r.missed(); len(missed) != 1 || !strings.HasPrefix(missed[0].What, "store writes") {
		t.Errorf("601 writes in ten minutes: %+v", missed)
	}
	r = measured()
	r.startup.Took = measure.Series{15.1}
	if missed := r.missed(); len(missed) != 1 || !strings.HasPrefix(missed[0].What, "`uidring gen`") {
		t.Errorf("a start of 15.1 ms: %+v", missed)
	}
	r = measured()
	r.cell(measure.DefaultNextN, one).Allocs = 1000
	if missed := r.missed(); len(missed) != 1 || !strings.HasPrefix(missed[0].What, "allocations") {
		t.Errorf("an allocation a call: %+v", missed)
	}
}

func TestLossesAreThoseOfTheRun(t *testing.T) {
	r := measured()
	r.cell(measure.DefaultNext, one).NsPerID = measure.Series{50}
	r.cell("xid", one).NsPerID = measure.Series{49}
	if got, want := r.losses(), "- `Default.Next` with 1 goroutine is slower than `xid` (49.0 against 50.0 ns)."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// With -check a missed bar is an error, after the page is written.
func TestPublish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	r := measured()
	for _, check := range []bool{false, true} {
		if err := r.publish("a command", path, check); err != nil {
			t.Errorf("check %t, all bars hold: %v", check, err)
		}
	}
	r.cell(measure.CachedNext, one).NsPerID = measure.Series{1000}
	if err := r.publish("a command", path, false); err != nil {
		t.Errorf("a bar is missed, and nobody checks: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	err := r.publish("a command", path, true)
	if err == nil || !strings.Contains(err.Error(), "1 bars are missed, the first is `Cached.Next`, 1 goroutine: want ≤ 1.35 × atomic add") {
		t.Errorf("a bar is missed: %v", err)
	}
	if page, err := os.ReadFile(path); !strings.Contains(string(page), "**MISSED**") {
		t.Errorf("the page of a missed bar: %.100s, %v", page, err)
	}
	if err := r.publish("a command", "no/page.md", true); err == nil {
		t.Error("a page in a folder that is not there: no error")
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := run(t.Context(), []string{"-count", "1", "-time", "1us", "-latency", "1us", "-patience", "0s", "-o", path}); err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(path); !strings.Contains(string(page), "\n    go run . -count 1 -time 1us ") {
		t.Errorf("%.200s, %v", page, err)
	}
	for _, args := range [][]string{{"-count", "0"}, {"-time", "-1s"}, {"-latency", "0s"}, {"x"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err != nil || os.RemoveAll(dir) != nil {
		code = 1
	}
	os.Exit(code)
}
