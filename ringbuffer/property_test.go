package ringbuffer_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/ringbuffer"
)

// likeReference drives a ring and the reference through the same calls, chosen
// at random, and compares every answer.
func likeReference(t *rapid.T) {
	runs := int64(1) << rapid.IntRange(0, 4).Draw(t, "log2 runs")
	runLen := int64(1) << rapid.IntRange(0, 4).Draw(t, "log2 runLen")
	ring := mustNew(t, ringbuffer.Config{Runs: runs, RunLen: runLen})
	want := newReference(runs, runLen)

	// Runs start where the last put ended, behind a gap, or wrongly before it.
	next := rapid.SampledFrom([]int64{0, 1000, math.MaxInt64 - 100}).Draw(t, "first")
	anyID := func(label string) int64 {
		return max(0, next+rapid.Int64Range(-2*runs*runLen, 3).Draw(t, label))
	}
	put := func(t *rapid.T, run ringbuffer.Run) {
		got, wanted := ring.Put(run), want.Put(run)
		if !errors.Is(got, wanted) {
			t.Fatalf("Put(%+v) = %v, want %v", run, got, wanted)
		}
		if got == nil {
			next = run.Last() + 1
		}
	}
	take := func(t *rapid.T, take func() (int64, error)) {
		got, err := take()
		if wanted, wantedErr := want.Take(); got != wanted || err != wantedErr {
			t.Fatalf("a take got %d, %v, want %d, %v", got, err, wanted, wantedErr)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"put": func(t *rapid.T) {
			run := ringbuffer.Run{First: next, N: rapid.Int64Range(1, runLen).Draw(t, "n")}
			if rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
				run.First += rapid.Int64Range(1, 5).Draw(t, "by")
			}
			put(t, run)
		},
		"put wrong": func(t *rapid.T) {
			put(t, ringbuffer.Run{First: anyID("first") - 1, N: rapid.Int64Range(-1, 3).Draw(t, "n")})
		},
		"take":        func(t *rapid.T) { take(t, ring.Take) },
		"try to take": func(t *rapid.T) { take(t, ring.TryTake) },
		"take run": func(t *rapid.T) {
			limit := rapid.OneOf(rapid.Int64Range(-1, 2*runLen+1), rapid.Just(int64(math.MaxInt64))).Draw(t, "limit")
			if got, wanted := ring.TakeRun(limit), want.TakeRun(limit); got != wanted {
				t.Fatalf("TakeRun(%d) = %+v, want %+v", limit, got, wanted)
			}
		},
		"drop": func(t *rapid.T) {
			last := anyID("last")
			if got, wanted := ring.Drop(last), want.Drop(last); !slices.Equal(got, wanted) {
				t.Fatalf("Drop(%d) = %+v, want %+v", last, got, wanted)
			}
		},
		"close": func(t *rapid.T) {
			if rapid.IntRange(0, 50).Draw(t, "really") != 0 {
				t.Skip("seldom")
			}
			if got, wanted := ring.Close(), want.Close(); !slices.Equal(got, wanted) {
				t.Fatalf("Close() = %+v, want %+v", got, wanted)
			}
		},
		"": func(t *rapid.T) {
			if got, wanted := ring.Counts(), want.Counts(); got != wanted {
				t.Fatalf("Counts() = %+v, want %+v", got, wanted)
			}
			if got, wanted := ring.HasRoom(), want.HasRoom(); got != wanted {
				t.Fatalf("HasRoom() = %v, want %v", got, wanted)
			}
			got, ok := ring.Oldest()
			wanted, wantedOK := want.Oldest()
			if got != wanted || ok != wantedOK {
				t.Fatalf("Oldest() = %d, %v, want %d, %v", got, ok, wanted, wantedOK)
			}
			if got, wanted := ring.Remaining(), want.Counts().Remaining; got != wanted {
				t.Fatalf("Remaining() = %d, want %d", got, wanted)
			}
		},
	})
}

func TestLikeReference(t *testing.T) { rapid.Check(t, likeReference) }

func FuzzLikeReference(f *testing.F) { f.Fuzz(rapid.MakeFuzz(likeReference)) }
