package uid_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Whatever the order of the times, ids differ, carry their tick and ascend in it;
// what is refused is full, forgotten, or not past.
func TestBackfillLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		maxTicks := rapid.IntRange(1, 6).Draw(rt, "max ticks")
		worker := rapid.Int64Range(0, 3).Draw(rt, "worker")
		now := at(20)
		b := newBackfill(t, &fakeLeaser{number: worker, fresh: true}, uid.BackfillConfig{Layout: tiny, MaxTicks: maxTicks, Now: func() time.Time { return now }})
		issued := map[int64]int{}
		last := map[int64]uid.ID{}
		for range rapid.IntRange(1, 100).Draw(rt, "calls") {
			want := rapid.Int64Range(-2, 22).Draw(rt, "tick")
			ids := make([]uid.ID, rapid.IntRange(0, 5).Draw(rt, "n"))
			n, err := b.AtN(at(want).Add(time.Duration(rapid.IntRange(0, 999).Draw(rt, "ms"))*time.Millisecond), ids)
			if (want < 0 || want >= 20) != (n == 0 && errors.Is(err, uid.ErrBackfillTime)) && len(issued) < maxTicks {
				rt.Fatalf("tick %d: %d, %v", want, n, err)
			}
			for _, id := range ids[:n] {
				parts, err := b.Parse(id)
				if err != nil || parts.Tick != want || parts.Worker != worker || id <= last[want] {
					rt.Fatalf("tick %d: id %d is %+v, %v, after %d", want, id, parts, err, last[want])
				}
				last[want] = id
				issued[want]++
			}
			if n < len(ids) && !errors.Is(err, uid.ErrBackfillTime) && !errors.Is(err, uid.ErrTickFull) {
				rt.Fatalf("tick %d: %d of %d ids, %v", want, n, len(ids), err)
			}
			if errors.Is(err, uid.ErrTickFull) && last[want]&3 != 3 {
				rt.Fatalf("tick %d is full after %d ids: %v", want, issued[want], err)
			}
		}
	})
}

// A number that may have stamped past ticks is refused, and given back.
func TestBackfillWantsFreshNumbers(t *testing.T) {
	clock := clockAt(start)
	config := uid.BackfillConfig{Layout: small, Now: clock.now}
	leased := &fakeLeaser{number: 3}
	for _, leaser := range []uid.WorkerSource{lease.NewStatic(1), leased} {
		_, err := uid.NewBackfill(t.Context(), leaser, config)
		need.Error(t, err, uid.ErrConfig)
	}
	if len(leased.released) != 1 {
		t.Errorf("the leased number was released %d times, want once", len(leased.released))
	}
	for _, test := range []struct {
		leaser uid.WorkerSource
		ticks  int
	}{{nil, 0}, {never{t}, -1}} {
		config.MaxTicks = test.ticks
		_, err := uid.NewBackfill(t.Context(), test.leaser, config)
		need.Error(t, err, uid.ErrConfig)
	}
}

// Close waits for a lease that hangs for CloseTimeout, and meanwhile calls fail at once.
// A second Close returns the first one's error. Stats counts.
func TestBackfillEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		b := newBackfill(t, &hanging{fakeLeaser{number: 5, fresh: true}}, uid.BackfillConfig{Layout: bubble})
		if n, err := b.AtN(bubble.Epoch, make([]uid.ID, 3)); n != 2 || !errors.Is(err, uid.ErrTickFull) {
			t.Errorf("AtN() = %d, %v", n, err)
		}
		_, err := b.At(bubble.Epoch.Add(-1))
		need.Error(t, err, uid.ErrBackfillTime, "layout's epoch, 2000-01-01T00:00:00Z: before")
		if s := b.Stats(); s.Issued != 2 || s.RejectedTakes != 2 || s.Clock.Worker != 5 || s.Closed || !s.Clock.LayoutEnd.Equal(bubble.End()) {
			t.Errorf("Stats() = %+v", s)
		}
		begun := time.Now()
		ended := make(chan error)
		go func() { ended <- b.Close() }()
		synctest.Wait()
		if _, err := b.At(bubble.Epoch); err != uid.ErrClosed || time.Since(begun) != 0 || !b.Stats().Closed {
			t.Errorf("At() = %v after %v, while Close waits", err, time.Since(begun))
		}
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != uid.CloseTimeout {
			t.Errorf("Close() = %v after %v, want DeadlineExceeded after 5s", err, time.Since(begun))
		}
		need.Error(t, b.Close(), context.DeadlineExceeded) // the first one's error
	})
	synctest.Test(t, func(t *testing.T) { // the next holder stamps none of its ticks, even by a clock that is behind
		time.Sleep(time.Hour)
		f := &fakeLeaser{number: 5, fresh: true}
		b := newBackfill(t, f, uid.BackfillConfig{Layout: bubble})
		if err := b.Close(); err != nil || len(f.released) != 1 || !f.released[0].Equal(time.Now()) {
			t.Errorf("Close() = %v, released from %v; want %v", err, f.released, time.Now())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBackfill(t, &hanging{fakeLeaser{number: 5, fresh: true}}, uid.BackfillConfig{Layout: bubble})
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := b.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 700*time.Millisecond {
			t.Errorf("Shutdown() = %v after %v, want the end of its context", err, time.Since(begun))
		}
	})
}
