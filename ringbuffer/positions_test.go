package ringbuffer

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// small returns a ring of runs of 4 ids, with room for 4 of them.
func small(t *testing.T, puts ...Run) *Ring {
	t.Helper()
	return ring(t, 4, 4, puts...)
}

// ring returns a ring that holds puts.
func ring(t *testing.T, runs, runLen int64, puts ...Run) *Ring {
	t.Helper()
	r, err := New(Config{Runs: runs, RunLen: runLen})
	need.Must(t, err)
	for _, run := range puts {
		need.Must(t, r.Put(run))
	}
	return r
}

// taken takes n ids.
func taken(t *testing.T, r *Ring, n int64) {
	t.Helper()
	for range n {
		_, err := r.Take()
		need.Must(t, err)
	}
}

// Total returns how many ids runs have.
func Total(runs []Run) (n int64) {
	for _, run := range runs {
		n += run.N
	}
	return n
}

// Least returns the least id of runs, or -1.
func Least(runs []Run) int64 {
	if len(runs) == 0 {
		return -1
	}
	return runs[0].First
}

// A taker that is held up between its two steps finds its claim in whichever span
// it lies by then.
func TestHeldUpTaker(t *testing.T) {
	for spans := range int64(3) {
		r := small(t, Run{0, 4}, Run{4, 4}, Run{8, 4})
		s := r.current.Load() // it has loaded this, and no more
		taken(t, r, 4*spans+2)
		want := Run{4*spans + 2, 2}
		at := atomic.AddInt64(&r.position, 2) - 2
		for r.Remaining() > 0 { // and is held up again behind its claim
			r.TakeRun(3)
		}
		if got := r.takeClaimed(s, at, 2); got != want {
			t.Errorf("%d spans later the taker got %+v, want %+v", spans+1, got, want)
		}
	}
}

// Polling an empty ring uses up no positions, except for one by each Take.
func TestPollingClaimsNothing(t *testing.T) {
	r := ring(t, 2, 1<<61, Run{100, 4})
	if got := r.TakeRun(math.MaxInt64); got != (Run{100, 4}) {
		t.Fatalf("TakeRun() = %+v, want all that there is", got)
	}
	before := atomic.LoadInt64(&r.position)
	for range 10 {
		if got := r.TakeRun(math.MaxInt64); got.N != 0 {
			t.Fatalf("TakeRun() = %+v of an empty ring", got)
		}
	}
	if got := atomic.LoadInt64(&r.position) - before; got != 0 {
		t.Errorf("10 polls by TakeRun used up %d positions, want none", got)
	}
	for range 10 {
		if _, err := r.Take(); err != ErrEmpty {
			t.Fatalf("Take() = %v of an empty ring", err)
		}
	}
	if got := atomic.LoadInt64(&r.position) - before; got != 10 {
		t.Errorf("10 polls by Take used up %d positions, want 10", got)
	}
	need.Must(t, r.Put(Run{200, 4}))
	if got := r.TakeRun(5); got != (Run{200, 4}) {
		t.Errorf("TakeRun(5) = %+v, want the next run", got)
	}
}

// Nor does it where the last claim took exactly what there was.
func TestPollingBehindTheLastClaim(t *testing.T) {
	r := small(t, Run{0, 4})
	for range 2 {
		if got := r.TakeRun(2); got.N != 2 {
			t.Fatalf("TakeRun(2) = %+v", got)
		}
	}
	for range 10 {
		if got := r.TakeRun(2); got.N != 0 || atomic.LoadInt64(&r.position) != 4 {
			t.Fatalf("TakeRun(2) = %+v of an empty ring, at position %d, want 4", got, atomic.LoadInt64(&r.position))
		}
	}
}

// A claim of many takes no more of the positions than maxClaim, nor than a run is
// long.
func TestClaimIsBounded(t *testing.T) {
	for _, runLen := range []int64{4, 4 * maxClaim} {
		r := ring(t, 4, runLen, Run{0, runLen})
		want := min(runLen, maxClaim)
		if got := r.TakeRun(math.MaxInt64); got != (Run{0, want}) || atomic.LoadInt64(&r.position) != want {
			t.Errorf("TakeRun() = %+v, with %d positions, want %d of each", got, atomic.LoadInt64(&r.position), want)
		}
	}
}

// What is dropped at the edges of the ids, and what Close says of it.
func TestDropAtTheEdges(t *testing.T) {
	const last = math.MaxInt64
	for _, tt := range []struct {
		name    string
		takes   int64
		drop    int64
		dropped int64
		rest    int64
	}{
		{"below all, none dealt", 0, math.MinInt64, 0, 0},
		{"below all, some dealt", 1, math.MinInt64, 0, 1},
		{"what is dealt already", 2, 1, 0, 2},
		{"id 0", 0, 0, 1, 1},
		{"a run", 0, 3, 4, 4},
		{"all but the last", 1, last - 1, 6, last},
		{"all", 1, last, 7, -1},
		{"all, none dealt", 0, last, 8, -1},
	} {
		r := small(t, Run{0, 4}, Run{4, 2}, Run{last - 1, 2})
		taken(t, r, tt.takes)
		if got := Total(r.Drop(tt.drop)); got != tt.dropped {
			t.Errorf("%s: Drop(%d) = %d, want %d", tt.name, tt.drop, got, tt.dropped)
		}
		if got := Least(r.Close()); got != tt.rest {
			t.Errorf("%s: Close() = %d, want %d", tt.name, got, tt.rest)
		}
		if got, want := r.Counts(), (Counts{Put: 8, Taken: tt.takes, Dropped: 8 - tt.takes}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
