package uid_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// The layout's end is the first instant that it cannot stamp. The stock layout of the original ran out on 2024-11-20: its
// default generator throws, and its cached one goes on with negative ids. A future epoch gives negative ids as well.
func TestStartsUpToTheEnd(t *testing.T) {
	for kind, open := range kinds {
		for _, test := range []struct {
			layout bits.Layout
			now    time.Time
			want   error
			says   string
		}{
			{small, small.End(), uid.ErrTimeExhausted, ""},
			{bits.Baidu(), time.Now(), uid.ErrTimeExhausted, "2024-11-20T21:24:16Z"},
			{bits.Layout{}, bits.Registry().Epoch.Add(-1), uid.ErrConfig, "Layout.Epoch is 2026-01-01T00:00:00Z, want no later than now, 2025-12-31T23:59:59Z"},
		} {
			_, err := open(t.Context(), never{t}, uid.CachedConfig{Layout: test.layout, Logger: quiet, Now: clockAt(test.now).now})
			need.Error(t, err, test.want, test.says)
		}
		for _, at := range []time.Time{small.Epoch, small.End().Add(-1)} {
			under(t, kind, lease.NewStatic(1), uid.CachedConfig{Layout: small, Logger: quiet, Now: clockAt(at).now})
		}
	}
}

// A step back of MaxBackward is waited out, and a nanosecond more is not.
func TestMaxBackward(t *testing.T) {
	for _, test := range []struct{ set, limit time.Duration }{
		{0, uid.DefaultMaxBackward}, {time.Second, time.Second}, {uid.None, 0}, {uid.Unlimited, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			var behind time.Duration
			gen := newDefault(t, uid.DefaultConfig{Layout: bubble, MaxBackward: test.set, Now: func() time.Time { return time.Now().Add(-behind) }})
			time.Sleep(10 * time.Second)
			last := mustNext(t, gen)
			if behind = test.limit + 1; test.set != uid.Unlimited {
				var backward *uid.ClockBackwardError
				if _, err := gen.Next(); !errors.As(err, &backward) || backward.Amount != test.limit+1 || backward.Max != test.limit {
					t.Errorf("Next() = %v, want ErrClockBackward by %v, beyond %v", err, test.limit+1, test.limit)
				}
				t.Logf("a step back of %v is waited out, one of %v is refused", test.limit, test.limit+1)
			}
			behind = test.limit
			begun := time.Now()
			if id := mustNext(t, gen); id <= last || time.Since(begun) != test.limit {
				t.Errorf("id %d after %d and %v, want a greater one after %v", id, last, time.Since(begun), test.limit)
			}
		})
	}
}

// A refusal changes nothing, so the next is the same. The clock may be before the epoch,
// also where a tick is long.
func TestDefaultRefusesAClockThatStepsBack(t *testing.T) {
	daily := bits.Layout{TimeBits: 20, WorkerBits: 8, SequenceBits: 8, Epoch: start, Unit: 24 * time.Hour}
	for _, test := range []struct {
		layout       bits.Layout
		issued       int
		back, amount time.Duration // of the step, and until the last id's tick or the epoch
	}{
		{small, 1, 3 * time.Second, 3 * time.Second},
		{small, 1, 1000 * time.Hour, 1000 * time.Hour},
		{small, 0, time.Hour, time.Hour - 5*time.Second},
		{daily, 0, 10 * time.Hour, 10 * time.Hour},
	} {
		clock := clockAt(start)
		gen := newDefault(t, uid.DefaultConfig{Layout: test.layout, Now: clock.now})
		last := uid.ID(0)
		for range test.issued {
			last = mustNext(t, gen)
		}
		clock.step(-test.back)
		for range 3 {
			_, err := gen.Next()
			var backward *uid.ClockBackwardError
			if !errors.Is(err, uid.ErrClockBackward) || !errors.As(err, &backward) ||
				backward.Amount != test.amount || backward.Max != uid.DefaultMaxBackward {
				t.Fatalf("Next() = %v after %v back, want ErrClockBackward by %v", err, test.back, test.amount)
			}
		}
		clock.step(test.back)
		if id := mustNext(t, gen); test.issued > 0 && id != last+1 {
			t.Errorf("id %d follows %d, want the next number", id, last)
		}
	}
}

// The layout's last tick ends as any other does: with a wait, or with what the
// lease says. Only then there is none left.
func TestDefaultInTheLastTick(t *testing.T) {
	layout := bits.Layout{TimeBits: 4, WorkerBits: 8, SequenceBits: 1, Epoch: bubble.Epoch, Unit: time.Second}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(15 * time.Second)
		gen := newDefault(t, uid.DefaultConfig{Layout: layout, Logger: quiet})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if n, err := gen.WaitN(ctx, make([]uid.ID, 3)); n < 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitN() = %d, %v, want the tick's ids and that of the context", n, err)
		}
		begun := time.Now()
		for range 2 {
			if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrTimeExhausted) || time.Since(begun) != 500*time.Millisecond {
				t.Errorf("Next() = %d, %v after %v, want ErrTimeExhausted when the tick has ended", id, err, time.Since(begun))
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(15 * time.Second)
		unavailable := errors.New("database unavailable")
		f := &fakeLeaser{number: 7, until: layout.End().Add(-time.Second)}
		gen := under(t, "default", f, uid.CachedConfig{Layout: layout, Logger: quiet})
		f.granted(7, time.Time{}, f.until, unavailable)
		_, err := gen.Next()
		need.Error(t, err, uid.ErrReservation, unavailable.Error())
	})
}

// hanging is a lease whose release takes until its context ends.
type hanging struct{ fakeLeaser }

func (h *hanging) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	_, err := h.fakeLeaser.Lease(ctx, r)
	return h, err
}

func (h *hanging) Release(ctx context.Context, _ time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

// A lease that hangs holds up Close for CloseTimeout, and Shutdown for as long as
// its caller allows.
func TestLeaseThatHangs(t *testing.T) {
	for kind, open := range kinds {
		for _, end := range []struct {
			name string
			call func(context.Context, uid.Generator) error
			want time.Duration
		}{
			{"Close", func(_ context.Context, gen uid.Generator) error { return gen.Close() }, 5 * time.Second},
			{"Shutdown", func(ctx context.Context, gen uid.Generator) error { return gen.Shutdown(ctx) }, 700 * time.Millisecond},
		} {
			synctest.Test(t, func(t *testing.T) {
				h := &hanging{fakeLeaser{number: 7, until: bubble.Epoch.Add(time.Hour)}}
				gen := under(t, kind, h, uid.CachedConfig{Layout: bubble})
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				defer cancel()
				begun := time.Now()
				if err := end.call(ctx, gen); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != end.want {
					t.Errorf("%s: %s() = %v after %v, want DeadlineExceeded after %v", kind, end.name, err, time.Since(begun), end.want)
				}
				if _, err := gen.Next(); err != uid.ErrClosed {
					t.Errorf("%s: Next() = %v after %s, want ErrClosed", kind, err, end.name)
				}
				need.Error(t, gen.Close(), context.DeadlineExceeded) // the error of the first
			})
		}
		// A number beyond the layout is given back within the same time.
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			_, err := open(t.Context(), &hanging{fakeLeaser{number: 999, until: bubble.Epoch.Add(time.Hour)}}, uid.CachedConfig{Layout: bubble})
			if !errors.Is(err, uid.ErrConfig) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) < uid.CloseTimeout {
				t.Errorf("%s: a start failed with %v after %v", kind, err, time.Since(begun))
			}
		})
	}
}

// At the end of the layout there is an error and never a negative id. A policy that fails
// does not hide it.
func TestCachedNeverPassesTheEnd(t *testing.T) {
	for _, test := range []struct {
		layout bits.Layout
		policy uid.TakePolicy
		ticks  int // before the end
	}{
		{bits.Layout{TimeBits: 8, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.PolicyHelp, 20},
		{bits.Layout{TimeBits: 8, WorkerBits: 54, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.PolicyHelp, 20},
		{bits.Layout{TimeBits: 8, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.PolicyReject, 8},
	} {
		clock := clockAt(test.layout.End().Add(-time.Duration(test.ticks) * time.Second))
		gen := newCached(t, uid.CachedConfig{Layout: test.layout, Now: clock.now, RejectedTake: test.policy, Logger: quiet})
		for range 2 * test.ticks {
			if id := mustNext(t, gen); id < 0 {
				t.Fatalf("id %d is negative", id)
			}
		}
		for range 10 {
			if id, err := gen.Next(); !errors.Is(err, uid.ErrTimeExhausted) {
				t.Fatalf("Next() = %d, %v past the end, want ErrTimeExhausted", id, err)
			}
			clock.step(time.Hour)
		}
		_, err := gen.Wait(t.Context())
		need.Error(t, err, uid.ErrTimeExhausted)
		need.Error(t, gen.Stats().LastError, uid.ErrTimeExhausted)
	}
}

// One wrong reading of the clock, that no id was stamped with, changes nothing. No lease is
// asked for time up to the end.
func TestGlitchBeyondTheEnd(t *testing.T) {
	for _, kind := range all {
		clock := clockAt(start)
		f := &fakeLeaser{number: 7}
		gen := under(t, kind, f, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now, Logger: quiet})
		clock.step(100 * 365 * 24 * time.Hour)
		var err error
		for err == nil {
			_, err = gen.Next()
		}
		if used, _ := f.told(); !errors.Is(err, uid.ErrTimeExhausted) || used.After(at(1000)) {
			t.Errorf("%s: Next() = %v while the clock is past the end, want ErrTimeExhausted; Use was told %v", kind, err, used)
		}
		clock.nanos.Store(at(500).UnixNano()) // when all of its slots have room again
		if got := tick(t, gen); got > 1000 {
			t.Errorf("%s: tick is %d after the clock came back, want one of the present", kind, got)
		}
	}
}

// The zero ID stands for none, so worker 0 does not issue it in the layout's first tick, which has
// one id less then.
func TestZeroIsNotIssued(t *testing.T) {
	for sequenceBits := range uint8(4) {
		layout := bits.Layout{TimeBits: 31, SequenceBits: sequenceBits, Epoch: start, Unit: time.Second}
		for kind := range kinds {
			for range 20 { // the first sequence may be random, below half
				clock := clockAt(start)
				gen := under(t, kind, lease.NewStatic(0), uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
				if sequenceBits == 0 {
					clock.step(time.Second) // the first tick has no other id
				}
				first := mustNext(t, gen)
				if got := gen.Stats().Issued; got != 1 || first < 1 || kind == "cached" && first != 1 {
					t.Errorf("%s, %d sequence bits: the first id is %d, and %d issued", kind, sequenceBits, first, got)
				}
				for want := first + 1; kind == "cached" && want <= 20; want++ {
					if id := mustNext(t, gen); id != want {
						t.Fatalf("%d sequence bits: id %d follows %d", sequenceBits, id, want-1)
					}
				}
				gen.Close()
			}
		}
	}
}

// Id 0 is not issued either under a number given within the layout's first tick, if the old
// number had issued nothing of that tick.
func TestZeroIsNotIssuedUnderAnotherNumber(t *testing.T) {
	layout := bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 3, Epoch: start, Unit: time.Second}
	for range 50 { // the first sequence is random
		clock := clockAt(start)
		f := &fakeLeaser{number: 1, until: layout.End()}
		gen := under(t, "default", f, uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
		f.granted(0, time.Time{}, layout.End(), nil)
		for want := int64(1); want <= 7; want++ {
			if id := mustNext(t, gen); int64(id) != want || gen.Stats().Issued != want {
				t.Fatalf("Next() = %d, and %d issued, want %d", id, gen.Stats().Issued, want)
			}
		}
		gen.Close()
	}
}
