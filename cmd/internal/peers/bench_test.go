package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/cmd/internal/cli"
)

// Few enough for the slowest, which makes 256 in 10 ms, and more than it makes in
// one go.
const ids = 2000

// The loops that are measured make ids, and none twice.
func TestIDsAreDistinct(t *testing.T) {
	const goroutines = 4
	for _, row := range there() {
		if row.Name == bench.Now {
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
	for _, row := range all {
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
			if l.Base != fastestPeer && !slices.ContainsFunc(all, func(row impl) bool { return row.Name == l.Base }) {
				t.Errorf("%s: the bar's base %q is no row", row.Name, l.Base)
			}
		}
	}
}

// measured returns a result without measuring. Floors cost 100 ns, peers 90, and what
// is ours 1.
func measured(cores int) *bench.Result {
	r := &bench.Result{Machine: bench.ThisMachine(), Rounds: 1, Seconds: 1}
	r.Cores = cores
	none := bench.Setting{}
	cell := func(name string, cost float64, settings ...bench.Setting) {
		for _, s := range settings {
			r.Add(bench.Of(name, s, bench.Cost, cost), bench.Of(name, s, bench.Rate, 1e3/cost), bench.Of(name, s, bench.AllocsPerID, 0), bench.Of(name, s, bench.AllocsPerCall, 0))
			if cost == 1 {
				r.Add(bench.Of(name, s, bench.Borrowed, 5), bench.Of(name, s, bench.Refills, 1), bench.Of(name, s, bench.Helps, 1), bench.Of(name, s, bench.Failed, 0))
			}
		}
	}
	for _, row := range all {
		at := settings(cores)
		if row.Scales {
			at = append(at, slices.DeleteFunc(crowds(cores), func(s bench.Setting) bool { return slices.Contains(at, s) })...)
		}
		cell(row.Name, []float64{100, 1, 90, 90}[row.Kind], at...)
	}
	for _, power := range boosts {
		cell(boostName(power), 1, settings(cores)...)
		r.Add(bench.Of(boostName(power), none, heapBytes, 2000), bench.Of(boostName(power), none, heapBytesPerID, 1))
	}
	for _, n := range tagCounts {
		cell(tagsName(n), 1, apart(cores)...)
	}
	for _, rate := range writeRates {
		name := writes(rate).name()
		r.Add(bench.Of(name, none, writesMade, float64(rate)), bench.Of(name, none, writesFirst, 3), bench.Of(name, none, writesSecond, 2), bench.Of(name, none, writesRange, 1000))
	}
	r.Add(bench.Of(startName, none, startTook, 15))
	for i, s := range append([]bench.Subject{bench.Nothing(), now.Subject}, pacedSegments()...) {
		for q := range bench.Latencies {
			r.Add(bench.Of(s.Name, none, bench.Latencies[q], float64(i+q)), bench.Of(s.Name, none, bench.Inside[q], float64(i+q)))
		}
		r.Add(bench.Of(s.Name, none, bench.PacedCalls, 1e6), bench.Of(s.Name, none, bench.Refills, 1), bench.Of(s.Name, none, bench.Helps, 0), bench.Of(s.Name, none, bench.Borrowed, 0))
	}
	return r
}

// set replaces the samples of a quantity.
func set(r *bench.Result, name string, at bench.Setting, unit string, samples ...float64) {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Quantity == (bench.Quantity{Name: name, Setting: at, Unit: unit}) {
			f.Samples = samples
			return
		}
	}
	panic(fmt.Sprint("no ", unit, " of ", name))
}

// show runs the command for a result and returns the page that it writes.
func show(t *testing.T, r *bench.Result, args ...string) (page, stderr string, code int) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	from, report := filepath.Join(t.TempDir(), "old.json"), filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(from, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, failed strings.Builder
	code = cli.Run(t.Context(), newRoot(), append(args, "--from", from, "--report", report), nil, &out, &failed)
	written, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("%v, %s", err, &failed)
	}
	return string(written), failed.String(), code
}

// missed returns the bars that do not hold.
func missed(bars []bench.Bar) []bench.Bar {
	return slices.DeleteFunc(bars, func(b bench.Bar) bool { return b.Pass })
}

// checkTables expects rows of one length in each table, and no trace of a fault.
func checkTables(t *testing.T, text string) {
	t.Helper()
	for _, fault := range []string{"%!", "NaN", "Inf", "\n\n\n", "<no value>"} {
		if at := strings.Index(text, fault); at >= 0 {
			t.Errorf("%q in %q", fault, text[max(at-80, 0):at+len(fault)])
		}
	}
	columns := 0
	for line := range strings.Lines(text) {
		now := strings.Count(line, "|")
		if now > 0 && columns > 0 && now != columns {
			t.Errorf("a row of %d columns among %d: %s", now, columns, line)
		}
		columns = now
	}
}

func TestPage(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 8} {
		text, stderr, code := show(t, measured(cores), "--check")
		if code != 0 || strings.Contains(text, "MISSED") {
			t.Errorf("%d cores: exit code %d, %s", cores, code, stderr)
		}
		checkTables(t, text)
		for _, row := range all {
			for _, part := range []string{row.Cap, row.GivesUp, row.Setup, label(row)} {
				if !strings.Contains(text, part) {
					t.Errorf("%d cores: %s: %q is missing", cores, row.Name, part)
				}
			}
		}
	}
}

// A bar that is missed is on the page twice, counts as a loss, and fails a check after the
// page is written.
func TestMissedBars(t *testing.T) {
	for _, c := range []struct {
		ns     float64
		missed int
	}{{135, 0}, {135.4, 1}} {
		r := measured(2)
		set(r, bench.CachedNext, bench.One, bench.Cost, c.ns)
		text, stderr, code := show(t, r, "--check")
		if code != c.missed || len(missed(peerBars(r))) != c.missed || strings.Count(text, "**MISSED**") != c.missed || strings.Count(text, "A bar is missed: `Cached.Next`, 1 goroutine") != c.missed {
			t.Errorf("%v against 100 ns: exit code %d, %s", c.ns, code, stderr)
		}
		if (c.missed == 1) != strings.Contains(text, "**1 of ") || (c.missed == 1) != strings.Contains(stderr, "1 bars are missed, the first is `Cached.Next`, 1 goroutine: want ≤ 1.35 × atomic add") {
			t.Errorf("%v against 100 ns: %s", c.ns, stderr)
		}
		if _, stderr, code = show(t, r); code != 0 {
			t.Errorf("%v against 100 ns, unchecked: exit code %d, %s", c.ns, code, stderr)
		}
	}
	loads := pacedName(pacedLoads[2])
	for _, c := range []struct {
		name    string
		at      bench.Setting
		unit    string
		samples []float64
		what    string
		text    string
	}{
		{bench.CachedNext, bench.One, bench.Cost, []float64{135.4}, "`Cached.Next`, 1 goroutine", "1.354 × "},
		{bench.CachedAll, bench.One, bench.Cost, nil, "`Cached.All`, 1 goroutine", ""},
		{bench.CachedAll, bench.Setting{Goroutines: 64}, bench.Cost, []float64{1.3}, "`Cached.All`, from 2 to 64 goroutines", "1.300 ×"},
		{loads, bench.Setting{}, bench.Inside[2], []float64{2001, 2002}, "`Segment.Next, loads of 50ms`, at a million a second", "2,002 "},
		{loads, bench.Setting{}, bench.Helps, []float64{1}, "`Segment.Next, loads of 50ms`, at a million a second", ""},
		{writes(writeRates[1]).name(), bench.Setting{}, writesSecond, []float64{601}, "store writes of a segment, at any rate", "601 "},
		{startName, bench.Setting{}, startTook, []float64{15.1}, "`uidring gen`, from its start to its first id", "15.1 "},
		{bench.DefaultNextN, bench.One, bench.AllocsPerCall, []float64{1}, "allocations, any generator and method", "1 a call"},
	} {
		r := measured(2)
		set(r, c.name, c.at, c.unit, c.samples...)
		if bars := missed(peerBars(r)); len(bars) != 1 || bars[0].What != c.what || !strings.HasPrefix(bars[0].Measured, c.text) {
			t.Errorf("%s of %s is %v: %+v, want %s", c.unit, c.name, c.samples, bars, c.what)
		}
	}
}

func TestLossesAreThoseOfTheRun(t *testing.T) {
	r := measured(2)
	set(r, bench.DefaultNext, bench.One, bench.Cost, 50)
	set(r, "xid", bench.One, bench.Cost, 49)
	if got, want := (&page{r}).losses(nil)[0], "`Default.Next` with 1 goroutine is slower than `xid` (49.0 against 50.0 ns)."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	var out, failed strings.Builder
	if code := cli.Run(t.Context(), newRoot(), []string{"--count", "1", "--duration", "1ms", "--report", path}, nil, &out, &failed); code != 0 {
		t.Fatal(&failed)
	}
	page, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(page), "| `peers --count=1 --duration=1ms --report="+path+"` |") {
		t.Errorf("%.900s, %v", page, err)
	}
	checkTables(t, string(page))
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err != nil || os.RemoveAll(dir) != nil {
		code = 1
	}
	os.Exit(code)
}

// At overload, with a unit that passes every few readings of the clock, the lock as
// published issues the first id of a unit twice. Mended, and by compare-and-swap, it
// does not.
func TestVestaLockRepeats(t *testing.T) {
	clock := func() func() int64 {
		readings := int64(0)
		return func() int64 { readings++; return readings / 20 }
	}
	for _, test := range []struct {
		name    string
		next    func() uint64
		repeats bool
	}{
		{"lock, as published", (&vestaLock{now: clock(), bits: 3}).next, true},
		{"lock, mended", (&vestaLock{now: clock(), bits: 3, stores: true}).next, false},
		{"compare-and-swap", (&vestaCAS{now: clock(), bits: 3}).next, false},
	} {
		seen, repeats := map[uint64]bool{}, 0
		for range 10_000 {
			id := test.next()
			if seen[id] {
				repeats++
			}
			seen[id] = true
		}
		if (repeats > 0) != test.repeats {
			t.Errorf("%s: %d of 10,000 ids repeat, want repeats: %v", test.name, repeats, test.repeats)
		}
	}
}
