package ringbuffer

import (
	"math"
	"slices"
	"testing"
)

// The positions of a ring that has used all of them start again from the least,
// and nobody notices.
func TestPositionsWrap(t *testing.T) {
	const runs, runLen = 4, 4
	for ahead := range int64(2 * runs * runLen) {
		r, err := New(Config{Runs: runs, RunLen: runLen})
		if err != nil {
			t.Fatal(err)
		}
		r.position.Store(math.MaxInt64 - ahead)
		r.current.Store(&span{end: math.MaxInt64 - ahead})

		for first := int64(0); first < runs*runLen; first += runLen {
			if err := r.Put(Run{first, runLen}); err != nil {
				t.Fatal(err)
			}
		}
		var got []int64
		for r.Remaining() > runLen {
			id, err := r.Take()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, id)
			if oldest, ok := r.Oldest(); !ok || oldest != id+1 || r.undealt() != runLen-1 {
				t.Fatalf("%d positions before the end %d ids of the run are left from %d on, want %d from %d",
					ahead, r.undealt(), oldest, runLen-1, id+1)
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
}
