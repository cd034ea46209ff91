package padding

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/guard"
	"github.com/uidring/uidring/ringbuffer"
)

// ErrStale is what Config.RejectedPut gets with ids that were older than
// Config.Stale allows.
var ErrStale = errors.New("padding: ids are too old")

// PanicError is what a panic in a source or a handler becomes. Its fields are In,
// what panicked, such as "source"; Value, what it panicked with; and Stack.
type PanicError = guard.PanicError

// A Source makes the next run of ids, all of them above those that it made
// before and no more than the ring's run length. One goroutine at a time calls
// it.
//
// A source may block, on a database or a network, if Config.Blocking says so.
// ctx then ends when the executor is closed, and the source returns soon after.
// If it returns an empty run and no error, no run is due: the executor calls it
// again when the ring next runs low, and whenever a taker finds the ring empty.
//
// An error says that no run can be made now. If the error has a method
// RetryAfter() time.Duration, the executor does not log the error, and calls
// the source again after that time. Any other error is logged, and the source
// is called again when the ring next runs low.
type Source func(ctx context.Context) (ringbuffer.Run, error)

// RetryAfter reports whether err is a delay, and how long it lasts. Zero or less
// is a delay of unknown length: a source that may block is asked again after a
// second, and any other when a taker asks.
func RetryAfter(err error) (after time.Duration, delay bool) {
	var d interface{ RetryAfter() time.Duration }
	if errors.As(err, &d) {
		return d.RetryAfter(), true
	}
	return 0, false
}

// Config holds the options of an [Executor]. The zero Config is valid.
type Config struct {
	// Blocking says that the source may block. Only the executor's goroutine
	// calls such a source, with no lock held that a taker needs, and
	// [Executor.Help] waits for it.
	Blocking bool

	// Schedule is when the executor fills the ring whether or not it is low. The
	// zero Schedule is never.
	Schedule Schedule

	// Stale returns the greatest id that is too old to be dealt. Every
	// StaleEvery, ids up to it are dropped, and the ring is filled again. A run
	// of such ids is refused. Nil keeps all ids.
	Stale      func() int64
	StaleEvery time.Duration

	// RejectedPut is called with ids that were made and will not be dealt, and
	// why. The error matches [ringbuffer.ErrOrder] for a run that does not lie
	// above those before, [ErrStale], or [ringbuffer.ErrClosed] for ids left at
	// Close. The handler must not call Close, which waits for it. Nil does
	// nothing.
	RejectedPut func(ringbuffer.Run, error)

	// Logger receives a warning when the source begins to fail and when a
	// handler panics. Nil is silent.
	Logger *slog.Logger
}

// Executor keeps a ring full. Make one with [New]; the zero value is not
// usable. Its methods may be called from any goroutine.
type Executor struct {
	ring   *ringbuffer.Ring
	source Source
	config Config

	filling sync.Mutex // held while the source makes a run and the ring takes it

	// Written by whoever fills, read by Stats.
	refills  atomic.Int64
	helps    atomic.Int64
	rejected atomic.Int64
	asked    atomic.Pointer[time.Time] // since when a blocking source has been making a run; nil is not
	failure  atomic.Pointer[error]     // why the last run could not be made; never nil

	waiting sync.Mutex
	changed chan struct{} // nil while nobody waits; guarded by waiting
	untold  []func()      // what Drop has yet to tell RejectedPut; guarded by waiting

	start, stop sync.Once
	wake        chan struct{} // holds at most one wish to fill the ring
	cancel      func()        // ends the source's context; written by start
	running     sync.WaitGroup
	quit        chan struct{} // closed by Shutdown
	idle        chan struct{} // closed when no goroutine is left
}

// New returns an executor that fills ring from source once [Executor.Start] is
// called.
func New(ring *ringbuffer.Ring, source Source, config Config) *Executor {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Executor{
		ring:   ring,
		source: source,
		config: config,
		wake:   make(chan struct{}, 1),
		quit:   make(chan struct{}),
		idle:   make(chan struct{}),
	}
	e.failure.Store(new(error))
	return e
}

// Start starts the executor's goroutine, which begins by filling the ring, and a
// second one if there is a schedule or a limit of age. Further calls, and calls
// after Close, do nothing.
func (e *Executor) Start() {
	e.start.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		e.cancel = cancel
		e.running.Go(func() { e.keepFull(ctx) })
		if e.config.Stale != nil || !e.config.Schedule.IsZero() {
			e.running.Go(e.keepTime)
		}
	})
}

// Close is [Executor.Shutdown] without a limit.
func (e *Executor) Close() { _ = e.Shutdown(context.Background()) }

// Shutdown closes the ring, cancels the source's context and waits for the
// executor's goroutines. If ctx ends before that, Shutdown returns its error: the
// source still blocks, and the goroutine ends when the source returns. Whatever
// the source then returns is refused. Shutdown may be called more than once,
// before Start, and from several goroutines.
func (e *Executor) Shutdown(ctx context.Context) error {
	e.start.Do(func() { e.cancel = func() {} }) // from here on, Start does nothing
	e.stop.Do(func() {
		close(e.quit)
		e.cancel()
		go func() { e.running.Wait(); close(e.idle) }()
		e.tellDropped()
		e.rejectAll(e.ring.Close(), ringbuffer.ErrClosed)
		e.notify()
	})
	select {
	case <-e.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unknown is how long a source that may block is left alone after a delay of
// unknown length.
const unknown = time.Second

// keepFull fills the ring when it is low, when Wake asks for it, and when a delay
// has passed. During a delay, a low ring alone is no reason to ask the source.
func (e *Executor) keepFull(ctx context.Context) {
	delay := time.NewTimer(0)
	defer delay.Stop()
	for {
		delay.Stop()
		e.tellDropped()
		low := e.ring.Low()
		after, delayed := RetryAfter(e.Fill(ctx))
		if delayed && after <= 0 && e.config.Blocking {
			after = unknown // else takers that wait and the source would drive each other
		}
		if after > 0 {
			delay.Reset(after)
			low = nil
		}
		select {
		case <-e.quit:
			return
		case <-low:
		case <-e.wake:
		case <-delay.C:
		}
	}
}

// keepTime drops what is stale and follows the schedule.
func (e *Executor) keepTime() {
	due := time.NewTimer(0)
	defer due.Stop()
	e.config.Schedule.arm(due)
	var check <-chan time.Time
	if e.config.Stale != nil {
		ticker := time.NewTicker(e.config.StaleEvery)
		defer ticker.Stop()
		check = ticker.C
	}
	for {
		select {
		case <-e.quit:
			return
		case <-check:
			if !e.dropStale() {
				continue
			}
		case <-due.C:
			e.dropStale()
			e.config.Schedule.arm(due)
		}
		e.Wake()
	}
}

// Wake makes the executor's goroutine fill the ring now, and closes the channel
// of [Executor.Changed]. Call it when a source that failed can make runs again.
func (e *Executor) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // a wish that has not been read yet says the same
	}
	e.notify()
}

// Changed returns a channel that is closed at the next put, at the next failure of
// a source that may block, by Wake and by Close.
func (e *Executor) Changed() <-chan struct{} {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	if e.changed == nil {
		e.changed = make(chan struct{})
	}
	return e.changed
}

func (e *Executor) notify() {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}
