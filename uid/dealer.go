package uid

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Dealer is the engine of every generator that deals ids from a ring: [Cached],
// segment.Generator and uidclient.Client. It deals the ids of the runs that a
// [padding.Source] makes, and has the executor that fills the ring, policies for an empty
// ring, waiting, statistics and closing. Make one with [NewDealer] to build a generator of
// your own. All methods may be called from any number of goroutines. The zero
// value is not usable.
//
// Order: a call that ends before another call begins returns smaller ids.
type Dealer struct{ Dealt }

// Dealt has the methods that a [Dealer] gives to a generator. A generator of your own embeds
// a pointer to the Dealt of its dealer, and keeps Start and Wake to itself.
type Dealt struct{ dealer }

// dealer is what Dealt and Cached have in common.
type dealer struct {
	claims   // what finds no ids ready
	ring     *ringbuffer.Ring
	executor *padding.Executor
	policy   func(Refusal) error
	ended    func() bool         // reports whether the source makes no further run
	follow   func(error) *Dealer // returns the successor for a call that failed, or nil
	release  func(context.Context, []ringbuffer.Run) error

	starved cacheline.Int64 // calls that found the ring empty; written by takers, read by Stats

	gate
}

// Ring returns the dealer's ring. Next of the dealer is Take of the ring: a generator
// that changes dealers calls Take, and saves a call. Only the dealer may put runs,
// drop them or close the ring.
func (d *Dealer) Ring() *ringbuffer.Ring { return d.ring }

// DealerConfig configures a [Dealer]. The zero DealerConfig is the default, and so is
// every zero field. Errors are as for [CachedConfig].
type DealerConfig struct {
	// Runs is how many runs the ring holds, and RunLen how many ids a run has at
	// most: see [ringbuffer.Config].
	Runs, RunLen int64

	// PaddingFactor is the fill, in per cent of the ring, below which the executor
	// fills the ring. From 1 to 99; zero is 50.
	PaddingFactor int

	// Padding configures the executor that fills the ring.
	Padding padding.Config

	// RejectedTake is the policy for a call that finds no id; nil is [Help].
	RejectedTake func(Refusal) error

	// Ended, if set, reports whether the source will never make another run. If so,
	// calls fail without calling the policy.
	Ended func() bool

	// Successor, if set, returns the dealer that takes over a call that failed with
	// err. If Successor returns nil, the call returns err.
	Successor func(err error) *Dealer

	// Release, if set, is called once after the dealer was closed. rest are the ids
	// left in the ring: the first of them and all greater ids were never dealt and
	// never will be. Close returns the error of Release.
	Release func(ctx context.Context, rest []ringbuffer.Run) error
}

// NewDealer returns a dealer of the ids that source makes. Its ring stays empty until
// [Dealer.Start] is called.
func NewDealer(source padding.Source, config DealerConfig) (*Dealer, error) {
	d := new(Dealer)
	if err := d.open(source, config); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *dealer) open(source padding.Source, config DealerConfig) (err error) {
	d.policy, d.ended, d.follow, d.release, d.gate = config.RejectedTake, config.Ended, config.Successor, config.Release, newGate()
	d.claims = d.claim
	if d.policy == nil {
		d.policy = Help
	}
	if d.ended == nil {
		d.ended = func() bool { return false }
	}
	if d.follow == nil {
		d.follow = func(error) *Dealer { return nil }
	}
	config.Runs = cmp.Or(config.Runs, ringbuffer.DefaultRuns)
	config.RunLen = cmp.Or(config.RunLen, ringbuffer.DefaultRunLen)
	config.PaddingFactor = cmp.Or(config.PaddingFactor, DefaultPaddingFactor)
	faults := invalid.Of("uid", ErrConfig)
	invalid.Range(faults, "PaddingFactor", config.PaddingFactor, 1, 99)
	d.ring, err = ringbuffer.New(ringbuffer.Config{
		Runs:      config.Runs,
		RunLen:    config.RunLen,
		Threshold: threshold(config.Runs*config.RunLen, int64(config.PaddingFactor)),
		RejectedTake: func() (int64, error) {
			run, err := d.claim(context.Background(), 1, false)
			return int64(run.First), err
		},
	})
	faults.Join(err)
	if err := faults.Err(); err != nil {
		return err
	}
	d.executor = padding.New(d.ring, source, config.Padding)
	return nil
}

// threshold returns factor per cent of capacity, but no less than 1, without
// multiplying the two, which would wrap for a great capacity.
func threshold(capacity, factor int64) int64 {
	return max(1, capacity/100*factor+capacity%100*factor/100)
}

// Start fills the ring and starts to keep it full. It waits for a source that
// blocks, and for a reservation that is under way, until ctx ends. It returns an
// error only if the ring stays empty.
func (d *Dealer) Start(ctx context.Context) error { return d.start(ctx) }

// Wake fills the ring now. Call it when a source that failed can make ids
// again.
func (d *Dealer) Wake() { d.executor.Wake() }

func (d *dealer) start(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		changed := d.executor.Changed()
		err := d.executor.Fill(ctx)
		if err == nil || d.ring.Remaining() > 0 {
			d.executor.Start()
			return nil
		}
		after, delay := padding.RetryAfter(err)
		if !delay || Help(Refusal{err, attempt}) != nil {
			return err
		}
		if ended := d.sleep(ctx, changed, after); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// Next returns the next id, from memory. When the ring is empty, the policy
// RejectedTake decides. [Reject] fails at once. [Help] waits only for a run or a
// reservation that is under way. [Wait] blocks until there is an id. After Close the
// error is [ErrClosed].
func (d *dealer) Next() (id ID, err error) {
	taken, err := d.ring.Take()
	return ID(taken), err
}

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
// An id that is ready is returned even if ctx has ended.
func (d *dealer) Wait(ctx context.Context) (id ID, err error) {
	if id = try(takeOne, d); id == 0 {
		id, err = otherwise(waitOne, ctx, d)
	}
	return
}

// The compiler inlines Wait into its callers, and takeOne into Wait. As parameters, both
// functions count less: see "Why Take is inlined" in package ringbuffer.
func try(take func(*dealer) ID, d *dealer) ID { return take(d) }

func otherwise(wait func(context.Context, *dealer) (ID, error), ctx context.Context, d *dealer) (ID, error) {
	return wait(ctx, d)
}

// takeOne returns an id that is ready, or 0, which stands for none.
func takeOne(d *dealer) ID {
	id, _ := d.ring.TryTake()
	return ID(id)
}

//go:noinline
func waitOne(ctx context.Context, d *dealer) (ID, error) { return d.claims.Wait(ctx) }

// NextN is Next for many ids, as [Generator] says. It claims as many consecutive ids at
// once as there are, so most of the cost of an id is writing it.
func (d *dealer) NextN(ids []ID) (int, error) { return d.fillAll(context.Background(), ids, false) }

// WaitN is NextN, but waits as Wait does.
func (d *dealer) WaitN(ctx context.Context, ids []ID) (int, error) { return d.fillAll(ctx, ids, true) }

// fillAll is fill of [claims], but takes what is ready with fewer calls.
func (d *dealer) fillAll(ctx context.Context, ids []ID, wait bool) (int, error) {
	run := d.ring.TakeRun(int64(len(ids)))
	ready := int(run.N)
	fill(ids[:ready], ID(run.First))
	if ready == len(ids) {
		return ready, nil
	}
	n, err := d.fill(ctx, ids[ready:], wait)
	return ready + n, err
}

// claim is the source of [claims]. A call whose ctx had ended before does not count as
// starved.
func (d *dealer) claim(ctx context.Context, limit int64, wait bool) (Run, error) {
	policy, ended := d.policy, ctx.Err() != nil
	if wait {
		policy = Wait
	}
	for attempt := 1; ; attempt++ {
		if run := d.ring.TakeRun(limit); run.N > 0 {
			return Run{ID(run.First), run.N}, nil
		}
		if attempt == 1 && !ended {
			d.starved.Add(1)
		}
		if err := d.refused(ctx, policy, attempt); err != nil {
			next := d.follow(err)
			if next == nil {
				return Run{}, d.failed(err, ended)
			}
			d, attempt = &next.dealer, 0
		}
	}
}

// refused calls the policy for a call that found the ring empty. It returns nil
// if the call is to try again.
func (d *dealer) refused(ctx context.Context, policy func(Refusal) error, attempt int) error {
	if d.closed.Load() {
		return ErrClosed
	}
	if !d.ended() {
		if err := ask(policy, Refusal{ErrRingEmpty, attempt}); err != nil {
			return err
		}
	}
	changed := d.executor.Changed() // before the attempt, so that no change after it is missed
	err := d.help(ctx)
	after, delay := padding.RetryAfter(err)
	if !delay {
		return err
	}
	if err := ask(policy, Refusal{err, attempt}); err != nil {
		return err
	}
	return d.sleep(ctx, changed, after)
}

// help puts a run, or waits for the executor to put one if the source may block.
func (d *dealer) help(ctx context.Context) error {
	defer d.count(time.Now())
	err := d.executor.Help(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ringbuffer.ErrClosed):
		return ErrClosed
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return waitError(ctx)
	}
	return err
}

// CloseTimeout is how long Close waits at most, for a source that blocks and
// for the release of a worker number. Shutdown takes a context instead.
const CloseTimeout = 5 * time.Second

// Close is [Dealer.Shutdown] with a deadline of [CloseTimeout].
func (d *dealer) Close() error { return closeWith(d.Shutdown) }

func closeWith(shutdown func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTimeout)
	defer cancel()
	return shutdown(ctx)
}

// Shutdown ends every wait, stops the executor and drops the ids that were not dealt.
// It gives back a leased worker number, or the rest of a range. Afterwards calls return
// [ErrClosed]. Shutdown may be called more than once and from several goroutines: later
// calls wait for the first, whose ctx bounds it. The error says what could not be
// stopped or given back.
func (d *dealer) Shutdown(ctx context.Context) error {
	d.shut()
	stopped := d.executor.Shutdown(ctx)
	return errors.Join(stopped, d.finish(func() error {
		if d.release == nil {
			return nil
		}
		return d.release(ctx, d.ring.Close())
	}))
}
