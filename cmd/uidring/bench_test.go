package main

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// swift has so short ticks that Default does not keep a test waiting.
const swift = "41/10/12,unit=1ms"

func TestBenchJSON(t *testing.T) {
	out := succeed(t, "bench", "--duration", "1ms", "--layout", swift, "--json")
	var got result
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%q: %v", out, err)
	}
	cores := runtime.GOMAXPROCS(0)
	if got.Go != runtime.Version() || got.Cores != cores || got.Seconds != 0.001 || !strings.HasPrefix(got.Layout, "41/10/12,") {
		t.Errorf("%+v", got)
	}
	i := 0
	for _, goroutines := range goroutineSteps(cores) {
		for _, s := range subjects {
			if i >= len(got.Rows) {
				t.Fatalf("%d rows, want more", len(got.Rows))
			}
			r := got.Rows[i]
			i++
			if r.Name != s.name || r.Goroutines != goroutines {
				t.Fatalf("row %d is %s at %d, want %s at %d", i, r.Name, r.Goroutines, s.name, goroutines)
			}
			if r.Seconds <= 0 || r.Rejected != 0 || r.Stopped != "" {
				t.Errorf("%+v", r)
			}
			if r.IDs == 0 && strings.HasPrefix(s.name, "Default") {
				continue // closed before the machine got round to it
			}
			if !near(r.PerSecond, float64(r.IDs)/r.Seconds) || !near(r.NsPerID, 1e9*r.Seconds/float64(r.IDs)) {
				t.Errorf("%+v does not add up", r)
			}
			floor := got.Rows[i-1-(i-1)%len(subjects)]
			if floor.Name != "atomic add" || !near(r.FloorRatio, r.NsPerID/floor.NsPerID) {
				t.Errorf("%s is %v times %+v", r.Name, r.FloorRatio, floor)
			}
		}
	}
	if i != len(got.Rows) {
		t.Errorf("%d rows, want %d", len(got.Rows), i)
	}
}

func near(a, b float64) bool { return a > b*0.999 && a < b*1.001 }

func TestBenchTable(t *testing.T) {
	out := succeed(t, "bench", "--duration", "1ms", "--layout", swift)
	for _, s := range subjects {
		if n, want := strings.Count(out, "  "+s.name+" "), len(goroutineSteps(runtime.GOMAXPROCS(0))); n != want {
			t.Errorf("%d rows of %s, want %d, in\n%s", n, s.name, want, out)
		}
	}
	for _, want := range []string{runtime.Version(), "ids/s", "ns/id", "allocs/id", "rejected", "borrowed s", "wall time", "Default has 4,096 in 1ms"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestTableOfResult(t *testing.T) {
	calls := &latency{Calls: 9, P50: spread{30, 31.4, 40}, P99: spread{0, 1.2e6, 2e6}}
	r := result{Go: "go1", Platform: "plan9/mips", Cores: 2, Layout: "1/2/3", Seconds: 1, Rounds: 3, ticksOf: "8 in 1s", Rows: []row{
		{Name: "atomic add", Goroutines: 1, Seconds: 1, PerSecond: 476e6, NsPerID: 2.1, FloorRatio: 1, Rounds: 3, Spread: spread{452.2e6, 476e6, 499.8e6}, Latency: calls},
		{Name: "Default.Next", Goroutines: 1, Seconds: 1, PerSecond: 8192, NsPerID: 122070.3, FloorRatio: 58128.7, AllocsPerID: 0.0016, Rounds: 1},
		{Name: "Cached.NextN(256)", Goroutines: 2, Seconds: 0.5, PerSecond: 2782724479, NsPerID: 0.36, FloorRatio: 0.17,
			Rejected: 1234, BorrowedSeconds: 339697.6, Stopped: "out of time"},
	}}
	var b strings.Builder
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	want := `go1, plan9/mips, cores: 2; layout 1/2/3; rounds: 3, 1s each

goroutines                               ids/s   spread       ns/id     x add        p50        p99  allocs/id  rejected    borrowed s
         1  atomic add             476,000,000    10.0%        2.10      1.00    31.4 ns     1.2 ms      0.000         0             0
         1  Default.Next                 8,192        -     122,070    58,129          -          -      0.002         0             0

goroutines                               ids/s   spread       ns/id     x add        p50        p99  allocs/id  rejected    borrowed s
         2  Cached.NextN(256)    2,782,724,479        -        0.36      0.17          -          -      0.000     1,234       339,698
            it ended after 0.500 s: out of time
`
	if got := b.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, args := range [][]string{{"bench"}, {"bench", "--json"}} {
		var stdout, stderr strings.Builder
		code := run(ctx, args, nil, &stdout, &stderr)
		if code != 1 || stderr.String() != "uidring: enough\n" || stdout.Len() == 0 {
			t.Errorf("%q: exit code %d, %q; want what was measured, nothing", args, code, stderr.String())
		}
	}

	for _, tt := range []struct {
		subject int
		layout  string
	}{
		{0, swift},
		{1, "40/10/12,unit=1h"},
		{3, "24/2/2,unit=1h"},   // before it is measured, while it waits for the next hour
		{4, "41/10/0,unit=1ms"}, // while it waits for the next id
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(errors.New("enough")) })
		a := allocator(t, tt.layout)
		if r, err := subjects[tt.subject].measure(ctx, a.Layout(), 2, time.Hour); err == nil || err.Error() != "enough" {
			t.Errorf("%+v, %v; want that it was enough", r, err)
		}
	}
}

// A Default that waits for ids is not waited for when the time is over.
func TestMeasureEnds(t *testing.T) {
	a := allocator(t, "41/10/0,unit=1ms") // has no more than an id a millisecond
	for _, s := range subjects[3:] {
		r, err := s.measure(t.Context(), a.Layout(), 1, 100*time.Millisecond)
		if err != nil || r.IDs >= perCheck || r.Rejected != 0 || r.Stopped != "" {
			t.Errorf("%s: %+v, %v; want it to end on time", s.name, r, err)
		}
	}
}

// Borrowed time is shown, and that a layout ran out of it.
func TestMeasureBorrowing(t *testing.T) {
	for i, name := range []string{1: "Cached.Next", 2: "Cached.NextN(256)"} {
		if i == 0 {
			continue
		}
		s := subjects[i]
		if s.name != name {
			t.Fatalf("subject %d is %s, want %s", i, s.name, name)
		}
		long := bits.Layout{TimeBits: 40, WorkerBits: 2, SequenceBits: 10, Epoch: bits.Default.Epoch, Unit: time.Hour}
		r, err := s.measure(t.Context(), long, 2, time.Millisecond)
		if ticks := float64(r.IDs) / 1024; err != nil || r.BorrowedSeconds < (ticks-2)*3600 || r.Rejected != 0 {
			t.Errorf("%s: %+v, %v; want %v hours borrowed at least", name, r, err, ticks-2)
		}
		short := bits.Layout{TimeBits: 10, WorkerBits: 2, SequenceBits: 1, Epoch: time.Now().Add(-time.Hour), Unit: time.Hour}
		r, err = s.measure(t.Context(), short, 2, time.Hour)
		if err != nil || r.IDs > 2048 || r.IDs < 1024 || r.Rejected == 0 || !strings.Contains(r.Stopped, "run out of time") {
			t.Errorf("%s: %+v, %v; want some 2,000 ids and that time ran out", name, r, err)
		}
	}
}

// Default is measured over whole ticks from the middle of one that is used up.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		layout         string
		duration, want time.Duration
		issued         int64
	}{
		{"40/2/4,unit=1ms", 3500 * time.Microsecond, 3 * time.Millisecond, 16},
		{"40/2/4,unit=1ms", time.Microsecond, time.Millisecond, 16},
		{"40/2/4,unit=1ms", 99*time.Millisecond + 1, 99 * time.Millisecond, 16},
		{"40/2/4,unit=1ms", 100*time.Millisecond + 1, 100*time.Millisecond + 1, 0},
		{"40/2/15,unit=10ms", 35 * time.Millisecond, 30 * time.Millisecond, 1 << 15},
		{"31/1/31", time.Millisecond, time.Millisecond, 0},
	} {
		a := allocator(t, tt.layout)
		gen, err := uid.NewDefault(t.Context(), uid.StaticWorker(0), uid.Config{Layout: a.Layout()})
		if err != nil {
			t.Fatal(err)
		}
		got, err := settle(t.Context(), gen, tt.duration)
		if issued := gen.Stats().Issued; got != tt.want || err != nil || issued < tt.issued {
			t.Errorf("%+v: %v, %v, %d ids; want %v, %d ids", tt, got, err, issued, tt.want, tt.issued)
		}
	}
}

func TestGoroutineSteps(t *testing.T) {
	for cores, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := goroutineSteps(cores); !slices.Equal(got, want) {
			t.Errorf("%d cores: %v, want %v", cores, got, want)
		}
	}
}
