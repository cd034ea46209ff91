package measure

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
	"github.com/uidring/uidring/uid"
)

// A sample counts the calls that were made, wherever the threads run.
func TestFanCounts(t *testing.T) {
	for _, p := range []Placement{Apart, System} {
		for _, goroutines := range []int{1, 2, 7, 64} {
			var made atomic.Int64
			calls, took, err := fan(t.Context(), func(n int) (uint64, error) {
				for range n { // calls that cost nothing would overflow an int of 32 bits
					made.Add(1)
				}
				return 0, nil
			}, goroutines, p, time.Millisecond)
			if err != nil || calls != made.Load() || calls < int64(goroutines) || took < time.Millisecond {
				t.Errorf("%s: %d goroutines made %d calls, %d are counted, in %v: %v", p, goroutines, made.Load(), calls, took, err)
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
		if _, _, err := fan(t.Context(), fail, goroutines, Apart, time.Hour); !errors.Is(err, broken) {
			t.Errorf("%d goroutines whose calls fail: %v", goroutines, err)
		}
		work := func(n int) (uint64, error) { return uint64(n), nil }
		if _, _, err := fan(ctx, work, goroutines, System, time.Hour); !errors.Is(err, broken) {
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
	for i, task := range []Task{&Cell{Subject: subject, Goroutines: 1, Time: time.Hour}, &Pace{Subject: subject, Time: time.Hour}} {
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
	p := &Pace{Subject: stalling(10 * time.Millisecond), Time: 20 * time.Millisecond}
	long := &Pace{Subject: stalling(50 * time.Millisecond), Time: time.Millisecond}
	if err := Rounds(t.Context(), 1, []Task{p, long}, new(Calm), func() {}); err != nil {
		t.Fatal(err)
	}
	if p.Latency[1].Median() < 1e6 || p.Latency[3].Median() < 10e6 {
		t.Errorf("a stall of 10 ms in 20: latencies %v", p.Latency)
	}
	if p.Inside[0].Median() > p.Latency[1].Median() || p.Inside[3].Median() < 10e6 {
		t.Errorf("a stall of 10 ms in 20: inside the calls %v, want one of 10 ms", p.Inside)
	}
	if long.Latency[0].Median() < 50e6 || long.Rate.Median() > 1e9/50e6 {
		t.Errorf("a stall of 50 ms in 1: latencies %v, %s calls a second", long.Latency, long.Rate)
	}
}

func TestRounds(t *testing.T) {
	var tasks []Task
	subjects := append(Floors(), Nothing())
	for _, s := range append(subjects, Ours(bits.Snowflake(), 3)...) {
		tasks = append(tasks, &Cell{Subject: s, Goroutines: 2, Time: time.Millisecond}, &Pace{Subject: s, Time: time.Millisecond})
	}
	calm, seen := new(Calm), 0
	if err := Rounds(t.Context(), 2, tasks, calm, func() { seen++ }); err != nil {
		t.Fatal(err)
	}
	if seen != 2*len(tasks) || calm.Samples != seen {
		t.Errorf("%d and %d samples, want %d", seen, calm.Samples, 2*len(tasks))
	}
	for _, task := range tasks {
		switch task := task.(type) {
		case *Cell:
			batches := strings.Contains(task.Name, "256")
			if len(task.NsPerID) != 2 || task.NsPerID.Median() <= 0 || batches != (task.IDs == task.Calls*Batch) || !batches != (task.IDs == task.Calls) {
				t.Errorf("%s: %+v", task.Name, task)
			}
			if cached := strings.HasPrefix(task.Name, "Cached"); cached != (len(task.Ring) == 2) {
				t.Errorf("%s: statistics %+v", task.Name, task.Ring)
			}
		case *Pace:
			for i, s := range task.Latency {
				if len(s) != 2 || i > 0 && s.Median() < task.Latency[i-1].Median() {
					t.Errorf("%s: latencies %v", task.Name, task.Latency)
				}
				if len(task.Inside[i]) != 2 || task.Inside[i].Median() > s.Median() {
					t.Errorf("%s: inside the calls %v of %v", task.Name, task.Inside, task.Latency)
				}
			}
		}
	}
}

// script is a task whose samples say when they were kept.
type script struct{ taken, kept int }

func (s *script) Sample(context.Context) (func(), error) {
	s.taken++
	return func() { s.kept = s.taken }, nil
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
			learning, task := 11, new(script)
			calm := &Calm{Patience: c.patience, probe: func(context.Context, int) float64 {
				if learning > 0 {
					learning--
					return 10 + float64(learning)
				}
				ns := c.probes[0]
				c.probes = c.probes[min(1, len(c.probes)-1):]
				return ns
			}}
			if err := Rounds(t.Context(), 1, []Task{task}, calm, func() {}); err != nil {
				t.Fatal(err)
			}
			if task.taken != c.taken || task.kept != c.taken || calm.Samples != 1 || calm.Disturbed != c.disturbed || calm.Patience > c.patience {
				t.Errorf("%s: %+v, %+v", c.name, *task, calm)
			}
		})
	}
}

// The loops that are measured make ids, and none twice.
func TestLoopsMakeIDs(t *testing.T) {
	const calls = 1000
	for _, s := range Ours(bits.Default(), 3) {
		in, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		var (
			seen = make(map[uint64]bool)
			mu   sync.Mutex
			wg   sync.WaitGroup
		)
		for range 2 {
			wg.Go(func() {
				for range calls {
					id, err := in.Loop(2)
					mu.Lock()
					if err != nil || id == 0 || seen[id] {
						t.Errorf("%s: id %d, made before: %t, %v", s.Name, id, seen[id], err)
					}
					seen[id] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if _, err := in.Loop(1); !errors.Is(err, uid.ErrClosed) {
			t.Errorf("%s: closed, and its loop returned %v", s.Name, err)
		}
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
		if got := Figure(v); got != want {
			t.Errorf("Figure(%v) is %s, want %s", v, got, want)
		}
	}
}

func borrowed(d time.Duration) uid.Stats { return uid.Stats{Ring: &uid.RingStats{Borrowed: d}} }

func TestCell(t *testing.T) {
	c := &Cell{NsPerID: Series{4, 5, 6}, IDs: 2560, Calls: 10, Allocs: 20,
		Ring: []uid.Stats{borrowed(time.Second), borrowed(3 * time.Second), borrowed(time.Minute)}}
	base := &Cell{NsPerID: Series{2}}
	if c.Borrowed().Median() != 3 || c.AllocsPerCall() != 2 || c.AllocsPerID() != 20./2560 || c.PerSecond() != 2e8 || c.Over(base) != 2.5 {
		t.Errorf("borrowed %s s, %v allocations a call, %v an id, %v ids a second, %v times the base",
			c.Borrowed(), c.AllocsPerCall(), c.AllocsPerID(), c.PerSecond(), c.Over(base))
	}
}

func TestCompare(t *testing.T) {
	ten := Series{9, 10, 10, 10, 11, 10}
	by := func(factor float64) Series {
		return Each(ten, func(v float64) float64 { return v * factor })
	}
	for _, c := range []struct {
		from, to Series
		delta    string
		want     Verdict
	}{
		{ten, by(0.5), "-50.0%", Better},
		{ten, by(2), "+100.0%", Worse},
		{ten, ten, "+0.0%", Same},
		{ten, by(1.05), "+5.0%", Same}, // the rounds overlap
		// Certain, and too small to matter: so a generator at its cap.
		{Series{1000, 1000.1, 1000.2, 1000.3, 1000.4}, Series{999, 999.1, 999.2, 999.3, 999.4}, "-0.1%", Same},
		{Series{10, 10, 10}, Series{20, 20, 20}, "+100.0%", TooFew},
		{ten, Series{20}, "+100.0%", TooFew},
	} {
		if got := Compare(c.from, c.to); got.Delta != c.delta || got.Verdict != c.want {
			t.Errorf("%v to %v is %+v, want %s %s", c.from, c.to, got, c.delta, c.want)
		}
	}
}
