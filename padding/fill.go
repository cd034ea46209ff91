package padding

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/ringbuffer"
)

// Fill puts runs into the ring until the ring is full, the executor is closed, or the source fails.
// It returns nil once the ring is full or no run is due, and otherwise the source's error or
// [ringbuffer.ErrClosed]. It blocks if the source does. If the source may block, call Fill only
// before Start.
func (e *Executor) Fill(ctx context.Context) error {
	filled := false
	for {
		put, err := e.put(ctx, e.ring.HasRoom)
		if put {
			filled = true
			continue
		}
		if filled {
			e.refills.Add(1)
		}
		if err == nil {
			e.note(nil)
		}
		return err
	}
}

// Help is for a taker that found the ring empty. It returns nil once the ring has ids again, and
// otherwise the source's error or, if ctx is done first, ctx's error.
//
// If the source does not block, Help calls it and puts a run into the ring. While the ring has
// room, Help adds up to three more, so that the next takers need no help.
//
// If the source may block, Help waits until the executor puts a run into the ring or ctx is done.
// If the last call to such a source failed, Help does not wait.
func (e *Executor) Help(ctx context.Context) error {
	if !e.config.Blocking {
		_, err := e.TryHelp()
		return err
	}
	for {
		changed := e.Changed() // before looking, so that no change is missed
		if ready, err := e.state(); ready || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TryHelp is like Help, but returns false and no error instead of waiting.
func (e *Executor) TryHelp() (ready bool, err error) {
	if e.config.Blocking {
		return e.state()
	}
	ctx := context.Background() // without a deadline, since the source does not block
	put, err := e.put(ctx, e.empty)
	for more := helpRuns - 1; put; more-- {
		e.helps.Add(1)
		if more == 0 {
			break
		}
		put, _ = e.put(ctx, e.ring.HasRoom)
	}
	return err == nil, err
}

// helpRuns is how many runs a taker puts at most. More would keep it for long, and with
// one a taker that is faster than the executor would have to help for each run.
const helpRuns = 4

func (e *Executor) empty() bool { return e.ring.Remaining() == 0 }

// state reports whether the ring has ids, or why none will come soon.
func (e *Executor) state() (ready bool, err error) {
	if !e.empty() {
		return true, nil
	}
	select {
	case <-e.quit:
		return false, ringbuffer.ErrClosed
	default:
		return false, e.lastError()
	}
}

// staleTries is how many runs in a row may be too old before put fails.
const staleTries = 4

// put asks the source for one run, if wanted returns true, and reports whether it
// put the run. It replaces a run that is too old.
func (e *Executor) put(ctx context.Context, wanted func() bool) (bool, error) {
	run, refused, err := e.putNext(ctx, wanted)
	for tries := 1; refused != nil; tries++ {
		e.rejectAll([]ringbuffer.Run{run}, refused)
		if !errors.Is(refused, ErrStale) || tries == staleTries {
			err = refused
			break
		}
		run, refused, err = e.putNext(ctx, wanted)
	}
	if err != nil && !errors.Is(err, ringbuffer.ErrClosed) {
		e.note(err)
	}
	put := err == nil && run.N > 0
	if put && e.config.Blocking {
		e.note(nil)
	}
	// A failure in a taker's goroutine is no change for other takers.
	if put || err != nil && e.config.Blocking {
		e.notify()
	}
	return put, err
}

func (e *Executor) putNext(ctx context.Context, wanted func() bool) (run ringbuffer.Run, refused, err error) {
	contention.Lock(&e.filling)
	defer e.filling.Unlock()
	select {
	case <-e.quit:
		return ringbuffer.Run{}, nil, ringbuffer.ErrClosed
	default:
	}
	if !wanted() {
		return ringbuffer.Run{}, nil, nil
	}
	// Before a source that does not block: a pause after it makes no run too old.
	last, limited := e.stale()
	if e.config.Blocking {
		began := time.Now()
		e.callBegan.Store(&began)
		defer e.callBegan.Store(nil)
	}
	err = calls.Call("padding", "source", func() (err error) { run, err = e.source(ctx); return err })
	if err != nil || run.N == 0 && e.config.Blocking {
		return ringbuffer.Run{}, nil, err
	}
	if e.config.Blocking {
		last, limited = e.stale()
	}
	if limited && run.N > 0 && run.Last() <= last {
		return run, ErrStale, nil
	}
	return run, e.ring.Put(run), nil
}

// rejectAll calls RejectedPut with ids that were made and will not be dealt.
// Call it with no lock held, since the handler may take long.
func (e *Executor) rejectAll(runs []ringbuffer.Run, why error) {
	for _, run := range runs {
		e.rejected.Add(1)
		if handler := e.config.RejectedPut; handler != nil {
			if failed := calls.Call("padding", "RejectedPut", func() error { handler(run, why); return nil }); failed != nil {
				e.config.Logger.Warn("padding: RejectedPut failed", "error", failed)
			}
		}
	}
}

// Drop removes all ids from the ring. If a source that does not block is making a run, Drop waits
// for that run and drops it too. The executor's goroutine calls RejectedPut with why, so the
// caller does not wait for the handler. After Shutdown, Drop calls RejectedPut itself.
func (e *Executor) Drop(why error) {
	runs := e.dropAll()
	e.waiting.Lock()
	e.undelivered = append(e.undelivered, func() { e.rejectAll(runs, why) })
	e.waiting.Unlock()
	e.Wake()
	select {
	case <-e.quit: // Shutdown may have emptied undelivered before
		e.rejectDropped()
	default:
	}
}

func (e *Executor) rejectDropped() {
	e.waiting.Lock()
	undelivered := e.undelivered
	e.undelivered = nil
	e.waiting.Unlock()
	for _, reject := range undelivered {
		reject()
	}
}

func (e *Executor) dropAll() []ringbuffer.Run {
	if !e.config.Blocking {
		e.filling.Lock()
		defer e.filling.Unlock()
	}
	return e.ring.Drop(math.MaxInt64)
}

func (e *Executor) dropStale() bool {
	last, ok := e.stale()
	if !ok {
		return false
	}
	runs := e.ring.Drop(last)
	e.rejectAll(runs, ErrStale)
	return len(runs) > 0
}

// stale returns the result of Config.Stale, or false if there is no limit.
func (e *Executor) stale() (last int64, ok bool) {
	if e.config.Stale == nil {
		return 0, false
	}
	if err := calls.Call("padding", "staleness check", func() error { last = e.config.Stale(); return nil }); err != nil {
		e.config.Logger.Warn("padding: cannot drop stale ids", "error", err)
		return 0, false
	}
	return last, true
}
