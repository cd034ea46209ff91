package deal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Dealer deals ids from a ring that an executor fills from a source. It is the engine of
// uid.Cached, segment.Counter and uidclient.Client. Make one with [New]; [ClaimsOf] has
// methods of a uid.Generator. All methods may be called from any number of goroutines.
//
// Order: a call that ends before another call begins gets smaller ids.
type Dealer struct {
	ring     *ringbuffer.Ring
	executor *padding.Executor
	config   Config

	starved contention.Int64 // calls that found the ring empty; written by takers, read by Stats

	calls Calls
}

// Policy decides what a call does when no id is ready, as uid.Refusal says. It gets the
// reason, and how often the call has found the ring empty.
type Policy func(err error, attempt int) error

func waiting(error, int) error { return nil }

// PolicyOf returns a Policy that calls policy, or preset if policy is nil, and makes a panic
// an error of the package pkg. R is uid.Refusal.
func PolicyOf[R ~struct {
	Err     error
	Attempt int
}](pkg string, policy, preset func(R) error) Policy {
	if policy == nil {
		policy = preset
	}
	return func(err error, attempt int) error {
		return calls.Call(pkg, "RejectedTake", func() error { return policy(R{err, attempt}) })
	}
}

// Config configures a [Dealer]. Its creator has checked the values.
type Config struct {
	// Runs is how many runs the ring holds, and RunLen how many ids a run has at most: see
	// [ringbuffer.Config]. PaddingFactor is the fill, in per cent, below which the executor
	// fills the ring.
	Runs, RunLen  int64
	PaddingFactor int

	// Padding configures the executor that fills the ring.
	Padding padding.Config

	// Policy is for a call of Next that finds no id.
	Policy Policy

	// Ended, if set, reports whether the source will never make another run. If so, calls
	// fail without calling the policy.
	Ended func() bool

	// Successor, if set, returns the dealer that takes over a call that failed with err. If
	// Successor returns nil, the call returns err.
	Successor func(err error) *Dealer

	// Release, if set, is called once after the dealer was closed. rest are the ids left in
	// the ring: the first of them and all greater ids were never dealt and never will be.
	// Shutdown returns the error of Release.
	Release func(ctx context.Context, rest []ringbuffer.Run) error
}

// New returns a dealer of the ids that source makes. Its ring stays empty until
// [Dealer.Start] is called.
func New(source padding.Source, config Config) (*Dealer, error) {
	d := &Dealer{config: config, calls: NewCalls()}
	var err error
	d.ring, err = ringbuffer.New(ringbuffer.Config{
		Runs:      config.Runs,
		RunLen:    config.RunLen,
		Threshold: threshold(config.Runs*config.RunLen, int64(config.PaddingFactor)),
		RejectedTake: func() (int64, error) {
			run, err := d.Claim(context.Background(), 1, Next)
			return run.First, err
		},
	})
	if err != nil {
		return nil, err
	}
	d.executor = padding.New(d.ring, source, config.Padding)
	return d, nil
}

// threshold returns factor per cent of capacity, but no less than 1, without multiplying
// the two, which would wrap for a great capacity.
func threshold(capacity, factor int64) int64 {
	return max(1, capacity/100*factor+capacity%100*factor/100)
}

// Ring returns the dealer's ring. Next of the generator is Take of the ring. Only the dealer may
// put runs into the ring, drop them or close the ring.
func (d *Dealer) Ring() *ringbuffer.Ring { return d.ring }

// Start fills the ring and starts to keep it full. It waits for a source that blocks until
// ctx ends. If the source fails with a delay and retry returns true, Start waits and tries
// again; a nil retry never does. Start returns an error only if the ring stays empty.
func (d *Dealer) Start(ctx context.Context, retry func(error) bool) error {
	for {
		changed := d.executor.Changed()
		err := d.executor.Fill(ctx)
		if err == nil || d.ring.Remaining() > 0 {
			d.executor.Start()
			return nil
		}
		after, delay, err := outcome(err)
		if !delay || retry == nil || !retry(err) {
			return err
		}
		if ended := d.calls.Sleep(ctx, changed, after); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// Wake fills the ring now. Call it when a source that failed can make ids again.
func (d *Dealer) Wake() { d.executor.Wake() }

// Drop drops all ids in the ring, for the reason why: see [padding.Executor.Drop].
func (d *Dealer) Drop(why error) { d.executor.Drop(why) }

// Claim is the [Claim] of a dealer.
func (d *Dealer) Claim(ctx context.Context, limit int64, how How) (ringbuffer.Run, error) {
	for attempt := 1; ; attempt++ {
		if run := d.ring.TakeRun(limit); run.N > 0 {
			return run, nil
		}
		if attempt == 1 && how != Try {
			d.starved.Add(1)
		}
		if err := d.refused(ctx, how, attempt); err != nil {
			var next *Dealer
			if d.config.Successor != nil {
				next = d.config.Successor(err)
			}
			if next == nil {
				return ringbuffer.Run{}, d.calls.Failed(err, how)
			}
			d, attempt = next, 0
		}
	}
}

// refused returns nil if a call that found the ring empty is to try again.
func (d *Dealer) refused(ctx context.Context, how How, attempt int) error {
	if d.calls.Closed() {
		return ErrClosed
	}
	policy := d.config.Policy
	if how != Next {
		policy = waiting
	}
	if d.config.Ended == nil || !d.config.Ended() {
		if err := policy(ErrNotReady, attempt); err != nil {
			return d.because(err)
		}
	}
	changed := d.executor.Changed() // before the attempt, so that no change after it is missed
	after, delay, err := outcome(d.help(ctx, how))
	switch {
	case !delay:
		return err
	case how == Try:
		return ErrNotReady
	}
	if err := policy(err, attempt); err != nil {
		return err
	}
	return d.calls.Sleep(ctx, changed, after)
}

// because adds to the error of a policy that rejects why the ring could not be filled.
func (d *Dealer) because(err error) error {
	if cause := d.executor.Stats().LastError; cause != nil && errors.Is(err, ErrNotReady) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// Refused is the error of a source that has refused to make a run: calls fail with Err at
// once. The executor calls the source again after Retry.
type Refused struct {
	Err   error
	Retry time.Duration
}

func (e *Refused) Error() string { return e.Err.Error() }

func (e *Refused) Unwrap() error { return e.Err }

// RetryAfter returns Retry.
func (e *Refused) RetryAfter() time.Duration { return e.Retry }

// outcome returns how long a call may wait after the source's error, and its caller's error.
func outcome(err error) (after time.Duration, delay bool, failed error) {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return 0, false, refused.Err
	}
	after, delay = padding.RetryAfter(err)
	return after, delay, err
}

// help puts a run into the ring. If the source may block, help waits for the executor to put one,
// but a Try does not.
func (d *Dealer) help(ctx context.Context, how How) error {
	defer d.calls.count(time.Now())
	err := ErrNotReady
	if how != Try {
		err = d.executor.Help(ctx)
	} else if ready, failed := d.executor.TryHelp(); ready || failed != nil {
		err = failed
	}
	switch {
	case errors.Is(err, ringbuffer.ErrClosed):
		return ErrClosed
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return WaitError(ctx)
	}
	return err
}

// Shutdown ends every wait, stops the executor and drops the ids that were not dealt. It
// may be called more than once and from several goroutines: later calls wait for the first,
// whose ctx bounds it. The error says what could not be stopped or released.
func (d *Dealer) Shutdown(ctx context.Context) error {
	d.calls.Shut()
	stopped := d.executor.Shutdown(ctx)
	return errors.Join(stopped, d.calls.Finish(func() error {
		if d.config.Release == nil {
			return nil
		}
		return d.config.Release(ctx, d.ring.Close())
	}))
}

// Close is Shutdown with a deadline of [CloseTimeout].
func (d *Dealer) Close() error { return Close(d.Shutdown) }

// Stats are a dealer's counts and state.
type Stats struct {
	ringbuffer.Counts
	padding.Stats
	Starved, Rejected int64
	Waited            time.Duration
	Closed            bool
}

// Stats returns the dealer's counts and state. It never waits for the source.
func (d *Dealer) Stats() Stats {
	return Stats{d.ring.Counts(), d.executor.Stats(), d.starved.Load(), d.calls.Rejected(), d.calls.Waited(), d.calls.Closed()}
}
