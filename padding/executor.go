package padding

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/uidring/uidring/ringbuffer"
)

// ErrLater is matched by the error of a source that is in order but may make no
// run for now. Stats tell of it, the log does not.
var ErrLater = errors.New("padding: no run for now")

// A Source makes the next run of ids, all of them above those that it made
// before and no more than the ring's run length. It is called by one goroutine
// at a time, with takers waiting, so it does not block. An error, such as one
// that matches [ErrLater], says that no run may be made now; it is asked again
// when one is wanted.
type Source func() (ringbuffer.Run, error)

// Config is what an [Executor] can be told. The zero Config is valid.
type Config struct {
	// Schedule is when to top up the ring whether or not it is low: a cron
	// specification or an interval, such as "@every 1m". Empty is never.
	Schedule string

	// Stale returns the greatest id that is too old to be dealt. Ids up to it
	// are dropped from the ring when the schedule is due. Nil keeps all.
	Stale func() int64

	// RejectedPut is called with a run that the ring refused, and why: the ring
	// was closed, another goroutine had filled it, or the run did not lie above
	// those before it. The run is not put again. The handler must not call
	// Close, which waits for it. Nil does nothing.
	RejectedPut func(ringbuffer.Run, error)

	// Logger takes what the executor has to say when the source fails, once for
	// each change and not for each attempt, and when a handler does. Nil is
	// silent.
	Logger *slog.Logger
}

// Executor keeps a ring full. Make one with [New]; the zero value is of no use.
// Its methods may be called from any goroutine.
type Executor struct {
	ring     *ringbuffer.Ring
	source   Source
	config   Config
	schedule cron.Schedule // nil is none

	filling sync.Mutex // held while asking the source and putting what it made

	// Written by whoever fills, read by Stats.
	refills  atomic.Int64
	helps    atomic.Int64
	rejected atomic.Int64
	failure  atomic.Pointer[failure] // never nil

	start, stop sync.Once
	quit        chan struct{}
	done        sync.WaitGroup
}

// failure holds an error, or nil, so that it can be swapped atomically.
type failure struct{ err error }

// New returns an executor that fills ring from source once [Executor.Start] is
// called. A schedule that cannot be used is an error.
func New(ring *ringbuffer.Ring, source Source, config Config) (*Executor, error) {
	schedule, err := ParseSchedule(config.Schedule)
	if err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Executor{
		ring:     ring,
		source:   source,
		config:   config,
		schedule: schedule,
		quit:     make(chan struct{}),
	}
	e.failure.Store(&failure{})
	return e, nil
}

// Start starts the goroutine, which begins by filling the ring. Further calls,
// and calls after Close, do nothing.
func (e *Executor) Start() {
	e.start.Do(func() { e.done.Go(e.run) })
}

// Close stops the goroutine, waits for it and closes the ring. It may be called
// more than once, before Start, and from several goroutines: each returns when
// all is done.
func (e *Executor) Close() {
	e.start.Do(func() {}) // from here on, Start does nothing
	e.stop.Do(func() { close(e.quit) })
	e.done.Wait()
	e.ring.Close()
}

func (e *Executor) run() {
	e.topUp()
	timer := time.NewTimer(0)
	defer timer.Stop()
	e.arm(timer)
	for {
		select {
		case <-e.quit:
			return
		case <-e.ring.Low():
			e.topUp()
		case <-timer.C:
			e.dropStale()
			e.topUp()
			e.arm(timer)
		}
	}
}

// topUp is Fill where nobody waits for the error. Stats and the log have it.
func (e *Executor) topUp() { _ = e.Fill() }

// arm sets the timer to the schedule's next time.
func (e *Executor) arm(timer *time.Timer) {
	timer.Stop()
	if e.schedule == nil {
		return
	}
	now := time.Now()
	if next := e.schedule.Next(now); !next.IsZero() {
		timer.Reset(next.Sub(now))
	}
}

func (e *Executor) dropStale() {
	if e.config.Stale == nil {
		return
	}
	var last int64
	if err := Guard("staleness check", func() error { last = e.config.Stale(); return nil }); err != nil {
		e.config.Logger.Warn("padding: stale ids are not dropped", "error", err)
		return
	}
	e.ring.Drop(last)
}

// Fill puts runs until the ring is full or the source refuses, whose error it
// returns, or until Close is called. It does not wait for the clock, nor for
// anything else.
func (e *Executor) Fill() error {
	var filled bool
	for {
		select {
		case <-e.quit:
			return ringbuffer.ErrClosed
		default:
		}
		put, err := e.put(e.ring.HasRoom)
		filled = filled || put
		if put {
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

// Help puts one run if the ring is empty, in the caller's goroutine. It returns
// the source's error if none may be made, or why the ring refused it.
func (e *Executor) Help() error {
	put, err := e.put(func() bool { return e.ring.Remaining() == 0 })
	if put {
		e.helps.Add(1)
	}
	return err
}

// Drop drops all ids in the ring. A run that the source is making is put first, so
// that nothing which it made before the call is left.
func (e *Executor) Drop() {
	e.filling.Lock()
	defer e.filling.Unlock()
	e.ring.Drop(math.MaxInt64)
}

// put asks the source for one run, if it is wanted, and puts it. It reports
// whether it did.
func (e *Executor) put(wanted func() bool) (bool, error) {
	run, refused, err := e.putNext(wanted)
	if refused != nil {
		e.rejected.Add(1)
		err = refused
		// Out of the lock, since the handler may take its time.
		if handler := e.config.RejectedPut; handler != nil {
			if failed := Guard("RejectedPut", func() error { handler(run, refused); return nil }); failed != nil {
				e.config.Logger.Warn("padding: a handler failed", "error", failed)
			}
		}
	}
	if err != nil && !errors.Is(err, ringbuffer.ErrClosed) {
		e.note(err)
	}
	return err == nil && run.N > 0, err
}

func (e *Executor) putNext(wanted func() bool) (run ringbuffer.Run, refused, err error) {
	e.filling.Lock()
	defer e.filling.Unlock()
	if !wanted() {
		return ringbuffer.Run{}, nil, nil
	}
	err = Guard("source", func() (err error) { run, err = e.source(); return err })
	if err != nil {
		return ringbuffer.Run{}, nil, err
	}
	return run, e.ring.Put(run), nil
}

// note keeps an error, or nil when the ring is full, for Stats, and logs a change
// of cause. A source that fails now and then, without the ring ever getting full,
// is one line in the log.
func (e *Executor) note(err error) {
	if err == nil && e.failure.Load().err == nil {
		return
	}
	before := e.failure.Swap(&failure{err}).err
	failed := func(err error) bool { return err != nil && !errors.Is(err, ErrLater) }
	switch {
	case failed(err) && (before == nil || before.Error() != err.Error()):
		e.config.Logger.Warn("padding: the ring is not filled", "error", err)
	case err == nil && failed(before):
		e.config.Logger.Info("padding: the ring is filled again")
	}
}

// Stats says what an executor has done so far.
type Stats struct {
	Refills      int64 // times that Fill put one run or more
	Helps        int64 // runs put by takers that found the ring empty
	RejectedPuts int64 // runs that the ring refused
	LastError    error // why the ring could not be filled; nil once it is full
}

// Stats returns what the executor has done so far.
func (e *Executor) Stats() Stats {
	return Stats{
		Refills:      e.refills.Load(),
		Helps:        e.helps.Load(),
		RejectedPuts: e.rejected.Load(),
		LastError:    e.failure.Load().err,
	}
}

// PanicError is what a panic in a source or a handler is turned into.
type PanicError struct {
	In    string // what panicked, such as "source"
	Value any    // what it panicked with
	Stack []byte // where
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("padding: panic in %s: %v", e.In, e.Value)
}

// Unwrap returns the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Guard calls f and returns its error, or a [*PanicError] if it panics.
func Guard(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{In: what, Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}
