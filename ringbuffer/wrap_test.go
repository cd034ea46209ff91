package ringbuffer

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// startAt makes the position the next that is claimed of a ring that has dealt nothing.
func startAt(r *Ring, position int64) {
	atomic.StoreInt64(&r.position, position)
	r.current.Store(&span{delta: -position, ring: r})
}

// Positions wrap, as signed and as unsigned numbers, and no taker notices.
func TestPositionsWrap(t *testing.T) {
	for ahead := range int64(32) {
		positionsWrap(t, math.MaxInt64, ahead)
		positionsWrap(t, -1, ahead)
	}
}

// positionsWrap deals the ids of a ring whose positions begin some ahead of the end.
func positionsWrap(t *testing.T, end, ahead int64) {
	r := small(t, Run{0, 4}, Run{4, 4}, Run{8, 4}, Run{12, 4})
	startAt(r, end-ahead)
	var got []int64
	for r.Remaining() > 4 {
		id, err := r.Take()
		need.Must(t, err)
		got = append(got, id)
		if oldest, ok := r.Oldest(); !ok || oldest != id+1 || r.Remaining()%4 != 3 {
			t.Fatalf("%d positions before the end %d ids are left from %d on, want 3 of the run from %d",
				ahead, r.Remaining(), oldest, id+1)
		}
		for run := r.TakeRun(2); run.N > 0; run.First, run.N = run.First+1, run.N-1 {
			got = append(got, run.First)
		}
		if dropped := Total(r.Drop(got[len(got)-1] + 1)); dropped != 1 {
			t.Fatalf("%d positions before the end Drop dropped %d ids, want 1", ahead, dropped)
		}
	}
	want := []int64{0, 1, 2, 4, 5, 6, 8, 9, 10}
	if !slices.Equal(got, want) {
		t.Errorf("%d positions before the end the ring dealt %d, want %d", ahead, got, want)
	}
	if oldest, ok := r.Oldest(); !ok || oldest != 12 {
		t.Errorf("%d positions before the end the oldest id is %d, %v, want 12", ahead, oldest, ok)
	}
	if counts, want := r.Counts(), (Counts{Put: 16, Taken: 9, Dropped: 3, Remaining: 4}); counts != want {
		t.Errorf("%d positions before the end the counts are %+v, want %+v", ahead, counts, want)
	}
	if rest := Least(r.Close()); rest != 12 {
		t.Errorf("%d positions before the end Close dropped from %d, want 12", ahead, rest)
	}
}

// A void claim stays void, however great the ids of the ring are and however many void
// claims came before.
func TestVoidClaims(t *testing.T) {
	for _, last := range []int64{0, 7, math.MaxInt64 / 2, math.MaxInt64} {
		for _, past := range []int64{0, 1, 1 << 32, math.MaxInt64 - 8} {
			for _, start := range []int64{0, math.MaxInt64 - 1, -2} {
				r := ring(t, 1, 1, Run{last, 1})
				startAt(r, start)
				if id, err := r.Take(); id != last || err != nil {
					t.Fatalf("Take() = %d, %v, want %d", id, err, last)
				}
				atomic.AddInt64(&r.position, past)
				for name, take := range map[string]func() (int64, error){"Take": r.Take, "TryTake": r.TryTake} {
					if id, err := take(); err != ErrEmpty {
						t.Errorf("%s() = %d, %v, %d positions past the span of id %d, from position %d", name, id, err, past, last, start)
					}
				}
				if run := r.TakeRun(1); run.N != 0 {
					t.Errorf("TakeRun(1) = %+v, %d positions past the span of id %d, from position %d", run, past, last, start)
				}
			}
		}
	}
}
