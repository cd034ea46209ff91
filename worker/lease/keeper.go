package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/logqueue"
	"github.com/uidring/uidring/worker/lease/internal/protocol"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// keeper keeps one number. It drives a protocol.Holder, which decides; start, run and
// Release use the holder one after the other.
type keeper struct {
	leaser  *Leaser
	node    Node
	within  leasestore.Range
	exact   int64            // the only number to hold; -1 is any
	numbers leasestore.Range // of the layout, as last compared
	request Request
	holder  protocol.Holder
	journal logqueue.Queue

	used atomic.Int64  // in milliseconds since 1970; written by Use, read by plan
	most atomic.Int64  // as used
	mark atomic.Int64  // beyond which Use asks for more; written by publish, read by Use
	more chan struct{} // holds at most one request for more

	usage   usage
	timeout timeout

	origin   time.Time // what the store's clock showed at the last read or, if it has none, our own at the last of the start
	began    time.Time // when that was
	hasClock bool      // the store has, as of the last read

	started    bool // a number was taken
	agreed     bool // the store remembers the layout, compared since the last number was lost
	admitted   bool // and did once a number had been taken, which may be used
	skewed     bool // the clock was wrong when the store was last read
	unanswered bool // a write of this round was not answered
	warned     bool // of other ranges

	stop     context.CancelFunc
	done     chan struct{}
	release  sync.Once
	released error
}

// acquireFor is how long a start retries while requests collide or have no answer in time.
const acquireFor = 2 * time.Minute

func (k *keeper) start(ctx context.Context) error {
	prepared := false
	take := func() error {
		if !prepared {
			if err := k.prepare(ctx); err != nil {
				return err
			}
			prepared = true
		}
		return k.round(ctx)
	}
	err := k.retry(ctx, acquireFor, transient, take)
	if expires(err) {
		k.log(slog.LevelWarn, "lease: the number is held, perhaps by a process that crashed; waiting until its lease expires or the holder sends a heartbeat",
			"error", err, "expiry", k.leaser.config.Expiry)
		for expires(err) && sleep(ctx, k.interval()/3) {
			held := err
			if err = k.retry(ctx, acquireFor, transient, take); err != nil && calls.EndOf(ctx) != nil {
				err = held // says more than the end of ctx does
			}
		}
	}
	k.started = true
	if err != nil {
		// Give back what a write without an answer, or before the last look at the layout, may have taken.
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = k.giveBack(cleanup, 0)
		if calls.Named(err) {
			return err
		}
		return k.leaser.fail(ctx, "take a number from", err)
	}
	k.timeout.most = max(k.timeout.most, min(k.leaser.config.Expiry/2, k.leaser.config.Window/4))
	k.publish(nil)
	running, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.run(running)
	return nil
}

// expires reports whether the holder of an assigned number may be dead.
func expires(err error) bool {
	held, ok := errors.AsType[*protocol.HeldError](err)
	return ok && held.Silent
}

// transient reports whether a start makes a request again that failed with err.
func transient(err error) bool {
	return leasestore.IsTransient(err) || errors.Is(err, protocol.ErrNotDone)
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (k *keeper) prepare(ctx context.Context) error {
	p, ok := k.leaser.store.(leasestore.Preparer)
	if !ok {
		return nil
	}
	_, err := withTimeout(ctx, &k.timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.Prepare(ctx, k.leaser.log()) })
	if err == nil || calls.Named(err) {
		return err // the store has named what it was doing
	}
	return k.leaser.fail(ctx, "prepare", err)
}

// compare compares the layout with the one that the store remembers, and returns the numbers that may be used. Before a
// number is taken, it has a store without a layout remember this one, also after a loss: all may be gone. Once one is
// taken, a store without a layout is an error, for which the round is tried again: another holder could have it
// remember another layout meanwhile.
func (k *keeper) compare(ctx context.Context) (numbers leasestore.Range, err error) {
	terms := leasestore.Terms{Layout: cmp.Or(k.request.Layout, anyLayout), Chosen: k.leaser.chosen, Within: k.within}
	old := ""
	if k.agreed {
		old = terms.Layout
	}
	numbers, err = withTimeout(ctx, &k.timeout, func(ctx context.Context) (leasestore.Range, error) {
		text, err := k.leaser.store.SwapLayout(ctx, old, terms)
		if err != nil {
			return leasestore.Range{}, err
		}
		is, err := agreed(text, k.request.Layout)
		within := k.within
		if owned, held := k.holder.Owns(); held {
			within = leasestore.Range{From: owned.Number, To: owned.Number}
		}
		if err == nil && (is.Numbers.From > within.To || is.Numbers.To < within.From) {
			err = fmt.Errorf("%w: since it changed, ids of %s have the numbers %s, and this generator may take only %s; give it some of the former (a StatefulSet: spec.ordinals.start)",
				ErrLayout, is.Layout, is.Numbers, within)
		}
		return is.Numbers, err
	})
	if err == nil || calls.Named(err) {
		return numbers, err
	}
	return numbers, k.leaser.fail(ctx, "compare the layout with that of", err)
}

// narrow leaves numbers out that may not be used under the layout. It reports whether that was necessary.
func (k *keeper) narrow(numbers leasestore.Range) bool {
	within := leasestore.Range{From: max(k.within.From, numbers.From), To: min(k.within.To, numbers.To)}
	if within == k.within {
		return false
	}
	k.within = within
	k.hold()
	k.plan()
	return true
}

// retry calls f until again(err) is false, ctx ends, or limit has passed. A limit of 0 means none.
func (k *keeper) retry(ctx context.Context, limit time.Duration, again func(error) bool, f func() error) (last error) {
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		if last = f(); again(last) {
			return struct{}{}, last
		}
		return struct{}{}, nil // no further call
	}, backoff.WithBackOff(k.retries()), backoff.WithMaxElapsedTime(limit))
	if leasestore.IsThrottled(last) && ctx.Err() == nil {
		return k.retry(ctx, limit, again, f) // by the client, not by the store
	}
	return last
}

func (k *keeper) retries() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = min(50*time.Millisecond, k.interval())
	b.MaxInterval = min(5*time.Second, k.interval())
	return b
}

// interval is the time between two renewals.
func (k *keeper) interval() time.Duration { return k.leaser.config.Expiry / 4 }

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	retry := k.retries()
	timer := time.NewTimer(k.interval())
	defer timer.Stop()
	var failed error
	for {
		wishes := k.more
		if failed != nil {
			wishes = nil // the retries have their own times
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-wishes:
			if k.used.Load() <= k.mark.Load() {
				continue // the last round has reserved enough
			}
		}
		err := k.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = k.leaser.fail(ctx, "renew a number in", err)
		}
		k.publish(err)
		k.report(failed, err)
		if failed = err; failed == nil {
			retry.Reset()
			timer.Reset(k.interval())
		} else {
			timer.Reset(retry.NextBackOff())
		}
	}
}

// round makes requests until a number is held, or held for longer; after a loss, another.
func (k *keeper) round(ctx context.Context) error {
	k.plan()
	k.unanswered = false
	for {
		done, err := k.step(ctx)
		switch {
		case errors.Is(err, protocol.ErrLost):
			k.agreed, k.admitted = false, false
			k.publish(err)
			k.log(slog.LevelWarn, "lease: the number is lost; taking another", "error", err)
		case err != nil:
			return err
		case done && !k.admitted:
			if _, err := k.compare(ctx); err != nil {
				if k.started && errors.Is(err, ErrLayout) { // no id has the number: the next round takes one that the layout has
					k.agreed = false
					k.hold()
				}
				return err
			}
			if k.admitted = true; k.started {
				k.log(slog.LevelInfo, "lease: took another number")
			}
			return nil
		case done:
			return nil
		}
	}
}

func (k *keeper) step(ctx context.Context) (done bool, err error) {
	request := k.holder.Next()
	before := k.request.Clock()
	answer, err := withTimeout(ctx, &k.timeout, func(ctx context.Context) (protocol.Answer, error) { return k.send(ctx, request) })
	if err == nil && (request.Op == protocol.Look || request.Op == protocol.Read) {
		err = k.readClock(before, &answer)
		if _, held := k.holder.Owns(); err == nil && !held && !k.agreed { // a start with a wrong clock leaves no layout behind
			var numbers leasestore.Range
			numbers, err = k.compare(ctx)
			if k.numbers, k.agreed = numbers, err == nil; k.agreed && k.narrow(numbers) {
				return false, nil // and looks again
			}
		}
	}
	if !k.warned { // two sites may overlap by mistake; no id repeats, since a number has one row
		for _, other := range answer.Others {
			k.log(slog.LevelWarn, "lease: two ranges of numbers overlap, so each can take numbers from the other; give each site its own range",
				"range", k.within.String(), "other", other)
		}
	}
	k.warned = k.warned || len(answer.Others) > 0
	answer.Err = err
	done, err = k.holder.Take(request, answer)
	if err == nil && answer.Err != nil {
		// The write may have been done: the round reads the row, and if it was done,
		// writes again. If that write fails too, publish the grant so far and end the
		// round: otherwise a store that answers no write would be asked without a pause.
		if k.unanswered {
			err = answer.Err
		}
		k.unanswered = true
	}
	return done, err
}

func (k *keeper) plan() {
	used := k.used.Load()
	grant, held := k.holder.Owns()
	ahead := int64(0)
	if held {
		ahead = min(k.usage.ahead(time.Now(), used, max(grant.From, millis(k.request.Clock())), k.interval()), k.most.Load())
	}
	k.holder.Use(used, ahead)
	if held {
		k.expect()
	}
}

func (k *keeper) publish(err error) {
	grant, held := k.holder.Owns()
	if !held || !k.admitted {
		k.request.Granted(Grant{Err: err})
		return
	}
	// Use asks for more when half of what is left is used.
	from := max(grant.From, k.used.Load(), millis(k.request.Clock()))
	k.mark.Store(min(grant.Until, from+(grant.Until-from)/2))
	k.request.Granted(Grant{
		Held: true, Number: grant.Number, From: time.UnixMilli(grant.From), Until: time.UnixMilli(grant.Until),
		Fresh: k.request.Fresh, Err: err, Numbers: k.numbers,
	})
}

func (k *keeper) report(before, after error) {
	switch {
	case before == nil && after != nil && k.admitted:
		k.log(slog.LevelWarn, "lease: cannot renew the number; ids run out when the reserved time is used up", "error", after)
	case before == nil && after != nil:
		k.log(slog.LevelWarn, "lease: no number is held; no ids are made", "error", after)
	case before != nil && after == nil:
		k.log(slog.LevelInfo, "lease: renewing the number again")
	}
}

func (k *keeper) log(level slog.Level, message string, args ...any) {
	grant, held := k.holder.Owns()
	if held {
		args = append(args, "number", grant.Number, "reserved_until", time.UnixMilli(grant.Until).UTC())
	}
	args = append(args, "store", k.leaser.store.String())
	k.journal.Add(func() { k.leaser.log().Log(context.Background(), level, message, args...) })
}

// Use implements Lease.
func (k *keeper) Use(used, most time.Time) {
	u := millis(used)
	k.most.Store(millis(most))
	for before := k.used.Load(); u > before && !k.used.CompareAndSwap(before, u); {
		before = k.used.Load()
	}
	if u > k.mark.Load() {
		select {
		case k.more <- struct{}{}:
		default: // the last request has not been read
		}
	}
}

// Release implements Lease.
func (k *keeper) Release(ctx context.Context, next time.Time) error {
	k.release.Do(func() {
		k.stop()
		<-k.done
		if err := k.giveBack(ctx, millis(next)); err != nil {
			k.released = k.leaser.fail(ctx, "give a number back to", err)
		}
		k.journal.Flush(ctx)
	})
	return k.released
}

// giveBack releases the number. It tries again until ctx is done.
func (k *keeper) giveBack(ctx context.Context, next int64) error {
	if !k.holder.Leave(next) {
		return nil
	}
	return k.retry(ctx, 0, func(error) bool { return true }, func() error {
		k.unanswered = false
		for {
			if done, err := k.step(ctx); done || err != nil {
				return err
			}
		}
	})
}
