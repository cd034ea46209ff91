package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
)

// A sample counts the calls that were made, wherever the threads run.
func TestFanCounts(t *testing.T) {
	for _, anywhere := range []bool{false, true} {
		for _, goroutines := range []int{1, 2, 7, 64} {
			at := Setting{goroutines, anywhere}
			var made atomic.Int64
			calls, took, err := fan(t.Context(), func(n int) (uint64, error) {
				for range n { // calls that cost nothing would overflow an int of 32 bits
					made.Add(1)
				}
				return 0, nil
			}, at, time.Millisecond)
			if err != nil || calls != made.Load() || calls < int64(goroutines) || took < time.Millisecond {
				t.Errorf("%s made %d calls, %d are counted, in %v: %v", at, made.Load(), calls, took, err)
			}
		}
	}
}

func TestFanEnds(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	for _, goroutines := range []int{1, 5} {
		fail := func(int) (uint64, error) { return 0, broken }
		if _, _, err := fan(t.Context(), fail, Setting{Goroutines: goroutines}, time.Hour); !errors.Is(err, broken) {
			t.Errorf("%d goroutines whose calls fail: %v", goroutines, err)
		}
		work := func(n int) (uint64, error) { return uint64(n), nil }
		if _, _, err := fan(ctx, work, Setting{goroutines, true}, time.Hour); !errors.Is(err, broken) {
			t.Errorf("%d goroutines with a context that has ended: %v", goroutines, err)
		}
	}
}

// A sample of a cell and a pace names its subject when it fails, and closes it.
func TestSampleFails(t *testing.T) {
	broken, closed := errors.New("broken"), 0
	subject := Subject{"glass", func() (*Instance, error) {
		return &Instance{
			Loop:  func(int) (uint64, error) { return 0, broken },
			Close: func() error { closed++; return nil },
		}, nil
	}}
	shut := Subject{"door", func() (*Instance, error) { return nil, broken }}
	for i, task := range []Task{&Cell{Subject: subject, Setting: One, Time: time.Hour}, &Pace{Subject: subject, Time: time.Hour}} {
		if _, err := task.Sample(t.Context()); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "glass: ") || closed != i+1 {
			t.Errorf("%T: %v, closed %d times", task, err, closed)
		}
	}
	if _, err := (&Cell{Subject: shut}).Sample(t.Context()); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "door: ") {
		t.Errorf("what does not open: %v", err)
	}
}

// The calls behind a slow one count as slow: they start late. A stall that outlasts
// the sample ends it.
func TestPaceOfStall(t *testing.T) {
	stalling := func(stall time.Duration) Subject {
		return Subject{"stall", func() (*Instance, error) {
			var once sync.Once
			return &Instance{Loop: func(n int) (uint64, error) {
				once.Do(func() { time.Sleep(stall) })
				return 1, nil
			}}, nil
		}}
	}
	short := &Pace{Subject: stalling(10 * time.Millisecond), Time: 20 * time.Millisecond}
	long := &Pace{Subject: stalling(50 * time.Millisecond), Time: time.Millisecond}
	long.Name = "long"
	r := &Result{Rounds: 1}
	if err := r.rounds(t.Context(), []Task{short, long}, new(calm), func() {}); err != nil {
		t.Fatal(err)
	}
	median := func(p *Pace, unit string) float64 { return r.Of(p.Name, Setting{}, unit).Median() }
	if median(short, Latencies[1]) < 1e6 || median(short, Latencies[3]) < 10e6 {
		t.Errorf("a stall of 10 ms in 20: %+v", r.Figures)
	}
	if median(short, Inside[0]) > median(short, Latencies[1]) || median(short, Inside[3]) < 10e6 {
		t.Errorf("a stall of 10 ms in 20, want one of 10 ms inside: %+v", r.Figures)
	}
	if median(long, Latencies[0]) < 50e6 || median(long, PacedCalls) > 1e9/50e6 {
		t.Errorf("a stall of 50 ms in 1: %+v", r.Figures)
	}
}

func TestRounds(t *testing.T) {
	var tasks []Task
	subjects := append(Floors(), Nothing())
	for _, s := range append(subjects, Ours(bits.Snowflake(), 3)...) {
		tasks = append(tasks, &Cell{Subject: s, Setting: Setting{Goroutines: 2}, Time: time.Millisecond}, &Pace{Subject: s, Time: time.Millisecond})
	}
	r, seen := &Result{Rounds: 2}, 0
	if err := r.rounds(t.Context(), tasks, new(calm), func() { seen++ }); err != nil {
		t.Fatal(err)
	}
	if seen != 2*len(tasks) || r.Samples != seen {
		t.Errorf("%d and %d samples, want %d", seen, r.Samples, 2*len(tasks))
	}
	for _, task := range tasks {
		switch task := task.(type) {
		case *Cell:
			of := func(unit string) Series { return r.Of(task.Name, task.Setting, unit) }
			if len(of(Cost)) != 2 || of(Cost).Median() <= 0 {
				t.Errorf("%s costs %v", task.Name, of(Cost))
			}
			ids := 1.
			if strings.Contains(task.Name, "256") {
				ids = Batch
			}
			for i, calls := range of(AllocsPerCall) {
				if math.Abs(of(AllocsPerID)[i]*ids/calls-1) > 1e-9 {
					t.Errorf("%s has %v allocations a call, and %v an id", task.Name, calls, of(AllocsPerID)[i])
				}
			}
			if cached := strings.HasPrefix(task.Name, "Cached"); cached != (len(of(Borrowed)) == 2) || cached != (of(Refills) != nil) {
				t.Errorf("%s borrowed %v", task.Name, of(Borrowed))
			}
		case *Pace:
			of := func(unit string) Series { return r.Of(task.Name, Setting{}, unit) }
			for i, unit := range Latencies {
				if s := of(unit); len(s) != 2 || i > 0 && s.Median() < of(Latencies[i-1]).Median() {
					t.Errorf("%s: %s %v", task.Name, unit, s)
				}
				if inside := of(Inside[i]); len(inside) != 2 || inside.Median() > of(unit).Median() {
					t.Errorf("%s: %s %v of %v", task.Name, Inside[i], inside, of(unit))
				}
			}
		}
	}
}

// script is a task whose sample says how often it was taken.
type script int

func (s *script) Sample(context.Context) ([]Figure, error) {
	*s++
	return []Figure{Of("script", One, Cost, float64(*s))}, nil
}

// A sample is taken again while the machine is disturbed, and kept once patience is
// used up.
func TestCalm(t *testing.T) {
	for _, c := range []struct {
		name      string
		patience  time.Duration
		probes    []float64 // after the eleven that learn; the last goes on
		taken     int
		disturbed int
	}{
		{"calm", time.Second, []float64{10}, 1, 0},
		{"just calm", time.Second, []float64{11.7}, 1, 0},
		{"busy before", time.Second, []float64{20, 20, 10}, 1, 0},
		{"busy after", time.Second, []float64{10, 20, 10}, 2, 0},
		{"busy for ever", 120 * time.Millisecond, []float64{11.9}, 1, 1},
		{"no patience", 0, []float64{20}, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			learning, task, r := 11, new(script), &Result{Rounds: 1}
			calm := &calm{patience: c.patience, probe: func(context.Context, int) float64 {
				if learning > 0 {
					learning--
					return 10 + float64(learning)
				}
				ns := c.probes[0]
				c.probes = c.probes[min(1, len(c.probes)-1):]
				return ns
			}}
			if err := r.rounds(t.Context(), []Task{task}, calm, func() {}); err != nil {
				t.Fatal(err)
			}
			if kept := r.Of("script", One, Cost); len(kept) != 1 || int(kept[0]) != c.taken || r.Samples != 1 || r.Disturbed != c.disturbed || calm.patience > c.patience {
				t.Errorf("%s: %+v, %+v", c.name, r, calm)
			}
		})
	}
}

// The compiler leaves no call of Repeat in the loops.
func TestRepeatIsInlined(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inlined := func(file, call string) int {
		n := 0
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "./"+file) && strings.HasSuffix(line, "inlining call to "+call+"\n") {
				n++
			}
		}
		return n
	}
	for _, file := range []string{"ours.go", "floor.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n, want := inlined(file, "Repeat"), strings.Count(string(source), "return Repeat("); n != want || want < 3 {
			t.Errorf("%d of %d loops in %s are inlined", n, want, file)
		}
	}
	if inlined("floor.go", "called") > 0 {
		t.Error("the call that is to be measured is inlined")
	}
}

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		samples Series
		median  float64
		text    string
	}{
		{Series{3}, 3, "3.00 (3.00–3.00)"},
		{Series{9, 1, 5}, 5, "5.00 (1.00–9.00)"},
		{Series{4, 1, 2, 9}, 3, "3.00 (1.00–9.00)"},
		{Series{1, 2000, 0.25}, 1, "1.00 (0.250–2,000)"},
		{Series{0, 0}, 0, "0 (0–0)"},
		{nil, math.NaN(), "–"},
	} {
		if got := c.samples.Median(); got != c.median && !(math.IsNaN(got) && math.IsNaN(c.median)) {
			t.Errorf("median of %v is %v, want %v", c.samples, got, c.median)
		}
		if c.samples.String() != c.text {
			t.Errorf("%v is %s, want %s", []float64(c.samples), c.samples, c.text)
		}
	}
	for v, want := range map[float64]string{9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 12_345.6: "12,346"} {
		if got := Digits(v); got != want {
			t.Errorf("Digits(%v) is %s, want %s", v, got, want)
		}
	}
}

// A ratio is of the same round, unless one has more samples.
func TestOver(t *testing.T) {
	for _, c := range []struct {
		s, base Series
		want    float64
	}{{Series{4, 9, 50}, Series{2, 3, 50}, 2}, {Series{4, 9, 50}, Series{2, 3}, 3.6}} {
		if got := c.s.Over(c.base); got != c.want {
			t.Errorf("%v over %v is %v, want %v", c.s, c.base, got, c.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	ten := Series{9, 10, 10, 10, 11, 10}
	by := func(factor float64) (s Series) {
		for _, v := range ten {
			s = append(s, v*factor)
		}
		return s
	}
	for _, c := range []struct {
		from, to Series
		delta    string
		want     string
	}{
		{ten, by(0.5), "-50.0%", better},
		{ten, by(2), "+100.0%", worse},
		{ten, ten, "+0.0%", same},
		{ten, by(1.05), "+5.0%", same}, // the rounds overlap
		// Certain, and too small to matter: so a generator at its cap.
		{Series{1000, 1000.1, 1000.2, 1000.3, 1000.4}, Series{999, 999.1, 999.2, 999.3, 999.4}, "-0.1%", same},
		{Series{10, 10, 10}, Series{20, 20, 20}, "+100.0%", tooFew},
		{ten, Series{20}, "+100.0%", tooFew},
	} {
		if got := changeOf(Quantity{Unit: Cost}, c.from, c.to); got.Delta != c.delta || got.Verdict != c.want {
			t.Errorf("%v to %v is %+v, want %s %s", c.from, c.to, got, c.delta, c.want)
		}
		opposite := map[string]string{better: worse, worse: better, same: same, tooFew: tooFew}[c.want]
		if got := changeOf(Quantity{Unit: Calls}, c.from, c.to); got.Verdict != opposite {
			t.Errorf("calls a second, %v to %v: %+v, want %s", c.from, c.to, got, opposite)
		}
	}
}
