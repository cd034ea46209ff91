package padding

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/ringbuffer"
)

// ErrStale is passed to Config.RejectedPut for ids that are too old.
var ErrStale = errors.New("padding: ids are too old")

// PanicError reports a panic in a source or a handler: in which Package and in which function (In), the panic's Value,
// and the panicking goroutine's Stack.
type PanicError = calls.PanicError

// A Source returns the next run of ids, at most the ring's run length of them. They must be greater than all
// ids that it returned before. A Source is called by one goroutine at a time.
//
// A source may block, on a database or a network, if Config.Blocking is set. Close cancels ctx,
// and the source must return soon after. Such a source may also return an empty run without an
// error, which means that no run is due. The executor then calls it again when the ring next runs
// low, and whenever a taker finds the ring empty.
//
// An error means that the source cannot make a run now. If the error has a method RetryAfter()
// time.Duration, the executor does not log it, and calls the source again after that time. It logs
// any other error as a warning, unless the last failure had the same text. It then calls the source
// again when the ring next runs low or the schedule is due. Unless Config.Blocking is set, it also
// does so when it next checks for stale ids.
type Source func(ctx context.Context) (ringbuffer.Run, error)

// RetryAfter reports whether err specifies a delay, and how long it is. A delay that is zero or
// negative counts as unknown, and RetryAfter returns one second. So neither a waiting taker nor
// the executor of a blocking source retries in a busy loop.
func RetryAfter(err error) (after time.Duration, delay bool) {
	var d interface{ RetryAfter() time.Duration }
	if !errors.As(err, &d) {
		return 0, false
	}
	if after = d.RetryAfter(); after <= 0 {
		after = time.Second
	}
	return after, true
}

// Config configures an [Executor]. Zero fields take their default values. Every Config is valid.
type Config struct {
	// Blocking says that the source may block. Once the executor is started, only its goroutine
	// calls such a source, without holding a lock that a taker needs, and [Executor.Help] waits for
	// the run.
	Blocking bool

	// Schedule says when to fill the ring even if it is not low. The zero Schedule is never due.
	Schedule Schedule

	// Stale returns the greatest id that is too old to be dealt. Once per StaleEvery, the executor
	// drops all ids up to and including that one, and refills the ring. If the source returns a run
	// of such ids, the executor discards the run and calls the source again, up to four times. Stale
	// is called before each call to a source that does not block, and after each call to one that
	// may block. If Stale is nil, no id is too old. StaleEvery <= 0 means one second.
	Stale      func() int64
	StaleEvery time.Duration

	// RejectedPut is called with ids that were made but will not be dealt, and the reason:
	// [ErrStale], the error passed to Drop, or [ringbuffer.ErrClosed] for ids left at Close. For a
	// run that is not above earlier runs, the reason matches [ringbuffer.ErrOrder]. The handler
	// must not call Close, which waits for the handler. RejectedPut may be nil.
	RejectedPut func(ringbuffer.Run, error)

	// Logger receives a warning when the source begins to fail, and when it fails with a different
	// error than before. It also receives one when a handler or Stale panics, and an info line when
	// the ring is filled again. If it is nil, nothing is logged.
	Logger *slog.Logger
}

// Executor keeps a ring full. Make one with [New]; the zero value is not
// usable. Its methods may be called from any goroutine.
type Executor struct {
	ring   *ringbuffer.Ring
	source Source
	config Config

	filling sync.Mutex // held while the source makes a run and the ring takes it

	// Written by calls that fill the ring, read by Stats.
	refills   atomic.Int64
	helps     atomic.Int64
	rejected  atomic.Int64
	callBegan atomic.Pointer[time.Time] // when the call of a blocking source began; nil while there is none
	failure   atomic.Pointer[error]     // why the last run could not be made; never nil

	waiting     sync.Mutex
	changed     chan struct{} // nil while nobody waits; guarded by waiting
	undelivered []func()      // calls of RejectedPut for Drop, not made yet; guarded by waiting

	start, stop sync.Once
	wake        chan struct{} // holds at most one request to fill the ring
	cancel      func()        // ends the source's context; written by start
	running     sync.WaitGroup
	quit        chan struct{} // closed by Shutdown
	idle        chan struct{} // closed when no goroutine is left
}

// New returns an executor that fills ring from source after [Executor.Start].
func New(ring *ringbuffer.Ring, source Source, config Config) *Executor {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.StaleEvery <= 0 {
		config.StaleEvery = time.Second
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

// Start starts the executor's goroutine, which first fills the ring. A second goroutine starts if
// Config has a Schedule or Stale. Further calls, and calls after Close, do nothing.
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

// Close is [Executor.Shutdown] without a deadline.
func (e *Executor) Close() { _ = e.Shutdown(context.Background()) }

// Shutdown closes the ring, cancels the source's context and waits for the executor's goroutines.
// If the source is still blocking when ctx is done, Shutdown returns ctx's error. In that case,
// the goroutine that called the source exits once the source returns, and RejectedPut gets the
// run. Shutdown may be called more than once, before Start, and from several goroutines.
func (e *Executor) Shutdown(ctx context.Context) error {
	e.start.Do(func() { e.cancel = func() {} }) // from here on, Start does nothing
	e.stop.Do(func() {
		close(e.quit)
		e.cancel()
		go func() { e.running.Wait(); close(e.idle) }()
		e.rejectDropped()
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

// keepFull fills the ring when it is low, after Wake, and when a delay has passed.
// During a delay, it ignores that the ring is low.
func (e *Executor) keepFull(ctx context.Context) {
	delay := time.NewTimer(0)
	defer delay.Stop()
	for {
		delay.Stop()
		e.rejectDropped()
		low := e.ring.Low()
		after, delayed := RetryAfter(e.Fill(ctx))
		if delayed {
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
			if !e.dropStale() && !e.broken() {
				continue
			}
		case <-due.C:
			e.dropStale()
			e.config.Schedule.arm(due)
		}
		e.Wake()
	}
}

// broken reports whether a source that does not block has failed, and named no delay. A server that reports this
// failure may get no requests, and then the ring never runs low.
func (e *Executor) broken() bool {
	err := e.lastError()
	_, delayed := RetryAfter(err)
	return err != nil && !delayed && !e.config.Blocking
}

// Wake makes the executor's goroutine fill the ring now, and closes the channel that
// [Executor.Changed] returned. Call it when a source that failed can make runs again.
func (e *Executor) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // the last request has not been read
	}
	e.notify()
}

// Changed returns a channel that is closed on the next put, on the next failure of a source that
// may block, or when Wake or Close is called, whichever comes first.
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
