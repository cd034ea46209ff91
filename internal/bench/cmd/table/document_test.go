package main

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/bench"
)

// measured returns results without measuring: cells cost as many nanoseconds as
// their name has letters.
func measured() *results {
	r := &results{Machine: thisMachine(), Count: 1, Started: time.Unix(0, 0)}
	r.plan()
	for _, c := range r.Cells {
		c.PerID = series{float64(len(c.Name))}
		c.IDs, c.Calls = 1000, 1000
		if strings.HasPrefix(c.Name, "cached") || strings.HasPrefix(c.Name, "boost") {
			c.Ring = []ring{{Borrowed: 5, Issued: 1000}}
		}
	}
	for _, f := range r.Memory {
		f.Slots, f.Heap = 1<<16, series{2000}
	}
	for i, p := range r.Latency {
		for q := range p.Quantiles {
			p.Quantiles[q] = series{float64(i + q)}
		}
		p.Rate = series{1e6}
	}
	return r
}

func TestDocument(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 8} {
		before := runtime.GOMAXPROCS(cores)
		text := document(measured(), "a command")
		runtime.GOMAXPROCS(before)

		for _, fault := range []string{"%!", "NaN", "Inf", "\n\n\n"} {
			if at := strings.Index(text, fault); at >= 0 {
				t.Errorf("%d cores: %q in %q", cores, fault, text[max(at-80, 0):at+len(fault)])
			}
		}
		for _, impl := range append(bench.All(), bench.Batches()...) {
			for _, part := range []string{impl.Cap, impl.GivesUp, impl.Setup, label(impl)} {
				if !strings.Contains(text, part) {
					t.Errorf("%d cores: %s: %q is missing", cores, impl.Name, part)
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

func TestLossesAreThoseOfTheRun(t *testing.T) {
	r := measured()
	r.cell("cached", 1).PerID = series{50}
	r.cell("xid", 1).PerID = series{49}
	list := strings.Join(r.faster("cached", 1), ", ")
	if want := "`xid` (49.0 against 50.0 ns)"; !strings.Contains(list, want) {
		t.Errorf("no %s in %s", want, list)
	}
	if strings.Contains(list, "floor") || strings.Contains(list, "time-now") {
		t.Errorf("no rivals: %s", list)
	}
	if bars := r.bars(); bars[0].Pass {
		t.Errorf("50 ns against 5 is at most 1.5: %+v", bars[0])
	}
}

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		samples series
		want    float64
	}{
		{series{3}, 3}, {series{9, 1, 5}, 5}, {series{4, 1, 2, 9}, 3},
	} {
		if got := c.samples.median(); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.samples, got, c.want)
		}
	}
	if got := (series{}).median(); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
	if got, want := (series{1, 2000, 0.25}).spread(), "**1.00** (0.250–2,000)"; got != want {
		t.Errorf("spread is %s, want %s", got, want)
	}

}
