package padding_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

func TestSourceThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{each: -1}
		e := newExecutor(t, newRing(t), c.source, padding.Config{Blocking: true})
		e.Start()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := e.Help(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("Help() = %v after %v, want the end of its context", err, time.Since(begun))
		}
		if got := e.Stats().Making; got != time.Minute {
			t.Errorf("Making is %v, want 1m0s", got)
		}
		helped := make(chan error)
		go func() { helped <- e.Help(t.Context()) }()
		synctest.Wait()
		e.Close()
		if err := <-helped; !errors.Is(err, ringbuffer.ErrClosed) || time.Since(begun) != time.Minute {
			t.Errorf("Help() = %v at Close, want ErrClosed at once", err)
		}
	})
}

// A taker that finds the ring empty misses no run that comes meanwhile, though none follows.
func TestHelpRace(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := ringbuffer.New(ringbuffer.Config{Runs: 1, RunLen: runLen, Threshold: 1})
	need.Must(t, err)
	e := newExecutor(t, r, new(counter).source, padding.Config{Blocking: true})
	e.Start()
	for range 100_000 {
		for _, err := r.Take(); err != nil; _, err = r.Take() {
			need.Must(t, e.Help(ctx))
		}
	}
}

// delay is an error that says when to try again.
type delay time.Duration

func (d delay) Error() string             { return "later" }
func (d delay) RetryAfter() time.Duration { return time.Duration(d) }

// A failing source is asked again after the time that its error names, and not
// before, however many takers want ids.
func TestRetriesAfterADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		var asked []time.Duration
		begun := time.Now()
		e := newExecutor(t, r, func(ctx context.Context) (ringbuffer.Run, error) {
			if asked = append(asked, time.Since(begun)); len(asked) <= 3 {
				return ringbuffer.Run{}, delay(10 * time.Second)
			}
			return c.source(ctx)
		}, padding.Config{Blocking: true})
		e.Start()
		for range 100 {
			r.Take() // empty: signals each time
			if err := e.Help(t.Context()); !errors.Is(err, delay(10*time.Second)) {
				t.Errorf("Help() = %v, want the source's error at once", err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		for i, want := range []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second} {
			if i >= len(asked) || asked[i] != want {
				t.Fatalf("the source was asked at %v, want every 10 s", asked)
			}
		}
		need.Must(t, e.Stats().LastError) // once the ring is full
		e.Wake()
		synctest.Wait()
	})
}

// After a delay of unknown length, a source that may block is asked again once a
// second, though a taker signals after each failure.
func TestDelayOfUnknownLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), &counter{fails: delay(0)}
		e := newExecutor(t, r, c.source, padding.Config{Blocking: true})
		e.Start()
		for begun := time.Now(); time.Since(begun) < 10*time.Second && c.calls.Load() < 100; {
			failed := e.Changed()
			r.Take() // empty: signals
			<-failed
		}
		if n := c.calls.Load(); n != 11 {
			t.Errorf("the source was asked %d times in 10 s, want 11", n)
		}
	})
}

// Ids that grew too old are dropped, the ring is filled again, and RejectedPut
// hears of each id that will not be dealt.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		var limit atomic.Int64
		limit.Store(-1)
		rejected := map[error]int64{}
		e := newExecutor(t, r, c.source, padding.Config{
			Stale:       limit.Load, // every second
			RejectedPut: func(run ringbuffer.Run, why error) { rejected[why] += run.N },
		})
		e.Start()
		synctest.Wait()
		take(t, r, 3)
		limit.Store(2*runLen - 1)
		time.Sleep(1001 * time.Millisecond)
		synctest.Wait()
		if got := r.Remaining(); got != 4*runLen || rejected[padding.ErrStale] != 2*runLen-3 {
			t.Errorf("%d ids, %d told to be stale, want %d and %d", got, rejected[padding.ErrStale], 4*runLen, 2*runLen-3)
		}
		e.Close()
		counts := r.Counts()
		if counts.Dropped != rejected[ringbuffer.ErrClosed]+2*runLen-3 {
			t.Errorf("counts are %+v, and told was %v", counts, rejected)
		}
	})
}

// A run that is put shows that the source works again, long before the ring is
// full.
func TestFailureEndsWithARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unavailable := errors.New("unavailable")
		r, c := newRing(t), &counter{each: time.Minute, fails: unavailable}
		e := newExecutor(t, r, c.source, padding.Config{Blocking: true})
		e.Start()
		synctest.Wait()
		if err := e.Help(t.Context()); err != unavailable {
			t.Errorf("Help() = %v, want %v", err, unavailable)
		}
		c.fails = nil
		r.Take() // empty: signals
		time.Sleep(90 * time.Second)
		if s := e.Stats(); s.LastError != nil || s.Making != 30*time.Second || r.Remaining() != runLen {
			t.Errorf("Stats() = %+v with %d ids, want no error after a run, and the next being made for 30s", s, r.Remaining())
		}
		take(t, r, runLen) // at once, while the next run is being made
		begun := time.Now()
		if err := e.Help(t.Context()); err != nil || time.Since(begun) != 30*time.Second {
			t.Errorf("Help() = %v after %v, want to wait for the next run", err, time.Since(begun))
		}
		time.Sleep(10 * time.Minute)
		if making := e.Stats().Making; making != 0 || r.Remaining() != 4*runLen {
			t.Errorf("a run is being made for %v with %d ids, want a full ring", making, r.Remaining())
		}
	})
}
