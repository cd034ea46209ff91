package padding_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Drop waits for the run that a source which does not block is making: what was
// made before Drop returns is dropped.
func TestDropWaitsForTheRun(t *testing.T) {
	why := errors.New("lost")
	r := newRing(t)
	making, goOn := make(chan struct{}), make(chan struct{})
	var told []ringbuffer.Run
	e := newExecutor(t, r, func(context.Context) (ringbuffer.Run, error) {
		close(making)
		<-goOn
		return ringbuffer.Run{First: 40, N: runLen}, nil
	}, padding.Config{RejectedPut: func(run ringbuffer.Run, err error) {
		if told = append(told, run); err != why {
			t.Errorf("RejectedPut was told %v, want %v", err, why)
		}
	}})
	helped := make(chan error)
	go func() { helped <- e.Help(t.Context()) }()
	<-making
	var dropped atomic.Bool
	done := make(chan struct{})
	go func() { e.Drop(why); dropped.Store(true); close(done) }()
	for n := 0; n < 10_000 && !dropped.Load(); n++ {
		runtime.Gosched() // for Drop to get as far as it can
	}
	close(goOn)
	need.Must(t, <-helped)
	<-done
	left := r.Remaining()
	e.Close() // RejectedPut is told by then
	if left != 0 || len(told) != 1 || told[0] != (ringbuffer.Run{First: 40, N: runLen}) {
		t.Errorf("%d ids after Drop, which told %+v", left, told)
	}
}

// RejectedPut gets what Drop drops while Close is under way: here, while the handler
// has what was dropped before.
func TestDropWhileClosing(t *testing.T) {
	r, c := newRing(t), new(counter)
	var e *padding.Executor
	var told int64
	e = newExecutor(t, r, c.source, padding.Config{RejectedPut: func(run ringbuffer.Run, _ error) {
		if told += run.N; told == 4*runLen {
			e.Drop(errors.New("lost"))
		}
	}})
	for _, then := range []func(){func() { e.Drop(errors.New("lost")) }, e.Close} {
		fill(t, e)
		then()
	}
	if put := r.Counts().Put; told != put || put != 8*runLen {
		t.Errorf("%d ids were put, and %d told", put, told)
	}
}

// Drop does not wait for a source that blocks.
func TestDropDoesNotWaitForABlockingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), &counter{each: time.Minute}
		e := newExecutor(t, r, c.source, padding.Config{Blocking: true})
		e.Start()
		synctest.Wait()
		begun := time.Now()
		e.Drop(errors.New("lost"))
		if took := time.Since(begun); took != 0 {
			t.Errorf("Drop took %v", took)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.Remaining(); got != runLen {
			t.Errorf("%d ids once the run was made, want %d", got, runLen)
		}
	})
}

// The log says when a source fails for another reason, and when it works again.
// A delay does not count as a failure.
func TestLogOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r, c := newRing(t), new(counter)
		e := newExecutor(t, r, c.source, padding.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for i, step := range []struct {
			err  error
			want string // in the log
		}{
			{delay(time.Second), ""},
			{nil, ""}, // no "again": that was a delay
			{errors.New("unavailable"), "level=WARN msg=\"padding: cannot fill the ring\" error=unavailable"},
			{errors.New("unavailable"), ""},
			{errors.New("torn"), "error=torn"},
			{delay(time.Second), ""},
			{errors.New("torn"), "error=torn"},
			{nil, "level=INFO msg=\"padding: filling the ring again\""},
			{nil, ""},
		} {
			log.Reset()
			c.fails = step.err
			takeAll(r)
			if err := e.Fill(t.Context()); err != c.fails || e.Stats().LastError != c.fails {
				t.Errorf("step %d: Fill() = %v, LastError = %v, want %v", i, err, e.Stats().LastError, c.fails)
			}
			if got := log.String(); !strings.Contains(got, step.want) || strings.Count(got, "\n") != min(len(step.want), 1) {
				t.Errorf("step %d: logged %q, want %q", i, got, step.want)
			}
		}
		e.Close()
		if err := e.Fill(t.Context()); err != ringbuffer.ErrClosed || e.Stats().LastError != nil {
			t.Errorf("Fill() = %v after Close, and LastError is %v, want none", err, e.Stats().LastError)
		}
	})
}

// Changed tells of puts, of Drop, of Wake and of Close, and of failures of a source that
// blocks. It does not tell others that one taker's call failed.
func TestChanged(t *testing.T) {
	for _, blocking := range []bool{false, true} {
		unavailable := errors.New("unavailable")
		c := new(counter)
		e := newExecutor(t, newRing(t), c.source, padding.Config{Blocking: blocking})
		for _, step := range []struct {
			name string
			do   func()
			want bool
		}{
			{"nothing", func() {}, false},
			{"put", func() { _ = e.Fill(t.Context()) }, true},
			{"full", func() { _ = e.Fill(t.Context()) }, false},
			{"drop", func() { e.Drop(unavailable) }, true},
			{"fail", func() { c.fails = unavailable; _ = e.Fill(t.Context()) }, blocking},
			{"wake", e.Wake, true},
			{"close", e.Close, true},
		} {
			changed := e.Changed()
			step.do()
			got := false
			select {
			case <-changed:
				got = true
			default:
			}
			if got != step.want {
				t.Errorf("blocking %v: a change after %s: %v, want %v", blocking, step.name, got, step.want)
			}
		}
	}
}

// A blocking source that has no run for now is not asked again until the ring is
// low, and nothing was put.
func TestNoRunIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := newRing(t)
		e := newExecutor(t, r, func(context.Context) (ringbuffer.Run, error) { asked++; return ringbuffer.Run{}, nil }, padding.Config{Blocking: true})
		e.Start()
		for range 5 {
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if s := e.Stats(); asked != 1 || s != (padding.Stats{}) {
			t.Errorf("the source was asked %d times, and Stats() = %+v; want once", asked, s)
		}
		r.Take()
		synctest.Wait()
		if asked != 2 {
			t.Errorf("the source was asked %d times once a taker found nothing, want 2", asked)
		}
	})
}

// A run is replaced when its last id is too old, and not before. After four such runs
// in a row, the call fails.
func TestStaleRuns(t *testing.T) {
	for _, test := range []struct {
		limit, calls int64
		want         error
	}{{-1, 1, nil}, {runLen - 2, 1, nil}, {runLen - 1, 2, nil}, {3*runLen - 1, 4, nil}, {4*runLen - 1, 4, padding.ErrStale}} {
		r, err := ringbuffer.New(ringbuffer.Config{Runs: 1, RunLen: runLen})
		need.Must(t, err)
		c := new(counter)
		var told int64
		e := newExecutor(t, r, c.source, padding.Config{
			Stale: func() int64 { return test.limit }, StaleEvery: time.Hour,
			RejectedPut: func(run ringbuffer.Run, _ error) { told += run.N },
		})
		if err := e.Help(t.Context()); err != test.want || (r.Remaining() == runLen) != (test.want == nil) {
			t.Errorf("ids up to %d are too old: Help() = %v with %d ids, want %v", test.limit, err, r.Remaining(), test.want)
		}
		if calls := c.calls.Load(); calls != test.calls || told != calls*runLen-r.Remaining() {
			t.Errorf("ids up to %d are too old: %d calls, and RejectedPut got %d ids, want %d calls", test.limit, calls, told, test.calls)
		}
	}
}

// A pause between the source and the ring, here as long as ids may get old, makes no
// run of a source that does not block too old. A source that blocks may take long
// itself.
func TestPauseAfterTheSource(t *testing.T) {
	for _, blocking := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begun, calls := time.Now(), 0
			age := func() int64 { return int64(time.Since(begun) / time.Millisecond) }
			r := newRing(t)
			e := newExecutor(t, r, func(context.Context) (ringbuffer.Run, error) {
				calls++
				run := ringbuffer.Run{First: age() + int64(calls), N: 1}
				if calls == 1 || !blocking {
					time.Sleep(10 * time.Millisecond)
				}
				return run, nil
			}, padding.Config{Blocking: blocking, Stale: func() int64 { return age() - 8 }, StaleEvery: time.Hour})
			fill(t, e)
			want := int64(1)
			if blocking {
				want = 12 // the second run
			}
			if id, err := r.Take(); id != want || err != nil {
				t.Errorf("blocking %v: Take() = %d, %v, want %d", blocking, id, err, want)
			}
		})
	}
}

// RejectedPut gets what was dropped at once, not at the next fill or at Close. If it
// panics, that is logged.
func TestRejectedPutAfterDrop(t *testing.T) {
	for _, panics := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			told := int64(0)
			r, c := newRing(t), new(counter)
			e := newExecutor(t, r, c.source, padding.Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), RejectedPut: func(run ringbuffer.Run, _ error) {
				if told += run.N; panics {
					panic("handler")
				}
			}})
			e.Start()
			synctest.Wait()
			e.Drop(errors.New("lost"))
			synctest.Wait()
			if told != 4*runLen {
				t.Errorf("RejectedPut got %d ids after Drop, want %d", told, 4*runLen)
			}
			if got := strings.Count(log.String(), "RejectedPut failed"); got != 1 && panics || got != 0 && !panics {
				t.Errorf("the handler panics: %v, and %d lines are logged:\n%s", panics, got, log.String())
			}
		})
	}
}
