package padding_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const runLen = 8

// counter is a source of runs that follow each other. It takes its time for each run, or
// until its context ends.
type counter struct {
	next  int64
	calls atomic.Int64
	fails error         // in place of a run
	each  time.Duration // of a run; negative is for ever
}

func (c *counter) source(ctx context.Context) (ringbuffer.Run, error) {
	c.calls.Add(1)
	if c.fails != nil {
		return ringbuffer.Run{}, c.fails
	}
	if c.each != 0 {
		var done <-chan time.Time
		if c.each > 0 {
			done = time.After(c.each)
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ringbuffer.Run{}, ctx.Err()
		}
	}
	run := ringbuffer.Run{First: c.next, N: runLen}
	c.next += runLen
	return run, nil
}

func newRing(t *testing.T) *ringbuffer.Ring {
	t.Helper()
	r, err := ringbuffer.New(ringbuffer.Config{Runs: 4, RunLen: runLen, Threshold: 2 * runLen})
	need.Must(t, err)
	return r
}

func newExecutor(t *testing.T, r *ringbuffer.Ring, source padding.Source, config padding.Config) *padding.Executor {
	t.Helper()
	e := padding.New(r, source, config)
	t.Cleanup(e.Close)
	return e
}

func schedule(t *testing.T, text string) padding.Schedule {
	t.Helper()
	s, err := padding.ParseSchedule(text)
	need.Must(t, err)
	return s
}

func take(t *testing.T, r *ringbuffer.Ring, n int) {
	t.Helper()
	for range n {
		_, err := r.Take()
		need.Must(t, err)
	}
}

// takeAll leaves the ring empty.
func takeAll(r *ringbuffer.Ring) {
	for r.Remaining() > 0 {
		r.TakeRun(runLen)
	}
}

func fill(t *testing.T, e *padding.Executor) {
	t.Helper()
	need.Must(t, e.Fill(t.Context()))
}

func TestFillsWhenLow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		e := newExecutor(t, r, c.source, padding.Config{})
		e.Start()
		e.Start()
		synctest.Wait()
		if got := r.Remaining(); got != 4*runLen {
			t.Fatalf("%d ids after Start, want %d", got, 4*runLen)
		}
		take(t, r, 2*runLen)
		synctest.Wait()
		if got := r.Remaining(); got != 2*runLen {
			t.Fatalf("%d ids, want %d: not yet below the threshold", got, 2*runLen)
		}
		take(t, r, 1) // leaves one run behind the one being dealt
		synctest.Wait()
		if got := r.Counts().Put; got != 6*runLen {
			t.Fatalf("%d ids put, want %d", got, 6*runLen)
		}
		if got := e.Stats(); got != (padding.Stats{Refills: 2}) {
			t.Errorf("Stats() = %+v, want 2 refills and nothing else", got)
		}
	})
}

// The original queues a task for every take below the threshold, and each burns
// a tick even when the ring is full.
func TestAThousandTakesAreOneRefill(t *testing.T) {
	r, c := newRing(t), new(counter)
	e := newExecutor(t, r, c.source, padding.Config{})
	fill(t, e)
	take(t, r, 4*runLen)
	for range 1000 {
		r.Take() // fails, and says each time that the ring is low
	}
	before := c.calls.Load()
	for range 1001 {
		fill(t, e)
	}
	if got := c.calls.Load() - before; got != 4 {
		t.Errorf("the source was asked %d times for 4 runs of room", got)
	}
	if got := e.Stats(); got != (padding.Stats{Refills: 2}) {
		t.Errorf("Stats() = %+v, want 2 refills: the others found the ring full", got)
	}
	if counts := r.Counts(); counts.Put != c.next {
		t.Errorf("%d ids were made and %d put: some were thrown away", c.next, counts.Put)
	}
}

// Help puts at most four runs, as far as there is room.
func TestHelpPutsAFewRuns(t *testing.T) {
	for runs, want := range map[int64]int64{1: 1, 2: 2, 4: 4, 8: 4, 16: 4} {
		r, err := ringbuffer.New(ringbuffer.Config{Runs: runs, RunLen: runLen})
		need.Must(t, err)
		c := new(counter)
		e := newExecutor(t, r, c.source, padding.Config{})
		for range 3 {
			need.Must(t, e.Help(t.Context()))
		}
		if got := r.Remaining(); got != want*runLen || c.calls.Load() != want {
			t.Errorf("%d ids after three calls, and %d runs were made, want %d: only an empty ring needs help", got, c.calls.Load(), want)
		}
		if got := e.Stats(); got != (padding.Stats{Helps: want}) {
			t.Errorf("Stats() = %+v, want %d helps", got, want)
		}
	}
}

// A taker that could put one run has ids, whatever happens to the next.
func TestHelpWithOneRun(t *testing.T) {
	r, c := newRing(t), new(counter)
	e := newExecutor(t, r, func(ctx context.Context) (ringbuffer.Run, error) {
		if c.calls.Load() == 1 {
			return ringbuffer.Run{}, errors.New("no second run")
		}
		return c.source(ctx)
	}, padding.Config{})
	if err := e.Help(t.Context()); err != nil || r.Remaining() != runLen {
		t.Errorf("Help() = %v, with %d ids; want one run of %d", err, r.Remaining(), runLen)
	}
}

// In the original a provider or handler that throws leaves the flag up that says
// a refill is running, and there is never another.
func TestSurvivesErrorsAndPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		unavailable := errors.New("unavailable")
		var mode atomic.Value
		mode.Store("error")
		c := new(counter)
		r := newRing(t)
		e := newExecutor(t, r, func(context.Context) (ringbuffer.Run, error) {
			switch mode.Load() {
			case "error":
				return ringbuffer.Run{}, unavailable
			case "panic":
				panic(unavailable)
			case "exhausting":
				return ringbuffer.Run{First: 3, N: runLen}, nil // not above the last
			}
			return c.source(t.Context())
		}, padding.Config{
			RejectedPut: func(ringbuffer.Run, error) { panic("handler") },
			Logger:      slog.New(slog.NewTextHandler(&log, nil)),
		})
		e.Start()
		synctest.Wait()
		if err := e.Stats().LastError; err != unavailable {
			t.Errorf("LastError is %v, want %v", err, unavailable)
		}

		mode.Store("panic")
		var panicked *padding.PanicError
		if err := e.Help(t.Context()); !errors.As(err, &panicked) || panicked.In != "source" || len(panicked.Stack) == 0 || !errors.Is(err, unavailable) {
			t.Errorf("Help() = %v, want a PanicError of the source", err)
		}
		r.Take() // signals; the executor's own goroutine meets the panic
		synctest.Wait()

		mode.Store("fine")
		r.Take()
		synctest.Wait()
		if got := r.Remaining(); got != 4*runLen {
			t.Fatalf("%d ids after the source recovered, want %d", got, 4*runLen)
		}
		need.Must(t, e.Stats().LastError)

		mode.Store("exhausting")
		take(t, r, 4*runLen)
		need.Error(t, e.Help(t.Context()), ringbuffer.ErrOrder)
		synctest.Wait()
		mode.Store("fine")
		need.Must(t, e.Help(t.Context())) // after a handler that panicked
		if got := e.Stats().RejectedPuts; got < 1 {
			t.Errorf("RejectedPuts is %d, want 1 or more", got)
		}
		e.Close()
		if got := strings.Count(log.String(), "cannot fill the ring"); got != 3 {
			t.Errorf("%d warnings for three causes, want 3:\n%s", got, log.String())
		}
	})
}

func TestClose(t *testing.T) {
	t.Run("before start", func(t *testing.T) {
		r, c := newRing(t), new(counter)
		e := newExecutor(t, r, c.source, padding.Config{Schedule: schedule(t, "@hourly")})
		e.Close()
		e.Start()
		if err := e.Fill(t.Context()); !errors.Is(err, ringbuffer.ErrClosed) || c.calls.Load() != 0 {
			t.Errorf("Fill() after Close: %v, source asked %d times", err, c.calls.Load())
		}
	})
	t.Run("many at once", func(t *testing.T) {
		r, c := newRing(t), new(counter)
		e := newExecutor(t, r, c.source, padding.Config{Schedule: schedule(t, "@hourly")})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(e.Start)
			wg.Go(e.Close)
		}
		wg.Wait()
		if got := r.Remaining(); got != 0 {
			t.Errorf("%d ids left after Close", got)
		}
		need.Error(t, e.Help(t.Context()), ringbuffer.ErrClosed)
	})
}

// A taker's run does not end the failure of a source that does not block: the ring is
// not full.
func TestHelpKeepsTheFailure(t *testing.T) {
	unavailable := errors.New("unavailable")
	c := new(counter)
	e := newExecutor(t, newRing(t), c.source, padding.Config{})
	for _, want := range []error{unavailable, nil} {
		c.fails = want
		if err := e.Help(t.Context()); err != want || e.Stats().LastError != unavailable {
			t.Errorf("Help() = %v, and LastError is %v, want %v and %v", err, e.Stats().LastError, want, unavailable)
		}
	}
	if err := e.Fill(t.Context()); err != nil || e.Stats().LastError != nil {
		t.Errorf("Fill() = %v, and LastError is %v once the ring is full", err, e.Stats().LastError)
	}
}
