package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/internal/lease"
)

// Lease is a number that is held. It is the interface of the same name of package
// uid, an alias so that neither package needs the other.
type Lease = interface {
	// Use says that instants up to used are stamped or wanted, and that none
	// beyond most will be for now, so that more can be reserved in time. It does
	// not block, and may be called from several goroutines.
	Use(used, most time.Time)

	// Release gives the number back, for others to go on from next, the first
	// instant that the holder has not stamped. Nothing may be stamped once it is
	// called. It may be called more than once, and does it once.
	Release(ctx context.Context, next time.Time) error
}

// keeper keeps one number: a goroutine that renews before the time reserved is
// used up, retries while the database is away, and takes another number when it
// has lost its own. It drives a lease.Holder, which decides; start, run and
// Release touch the holder one after the other.
type keeper struct {
	leaser  *Leaser
	store   *store
	now     func() time.Time
	granted func(number int64, from, until time.Time, err error)
	holder  lease.Holder

	used atomic.Int64  // in milliseconds since 1970; written by Use, read by plan
	most atomic.Int64  // as used
	mark atomic.Int64  // beyond which Use asks for more; written by plan, read by Use
	ask  chan struct{} // holds at most one wish

	pace   pace
	skewed bool // the clock was wrong when the database was last read

	unanswered bool // a write of this round was not answered

	stop     context.CancelFunc
	done     chan struct{}
	release  sync.Once
	released error
}

func newKeeper(l *Leaser, s *store, now func() time.Time, granted func(int64, time.Time, time.Time, error), config lease.Config) *keeper {
	return &keeper{
		leaser:  l,
		store:   s,
		now:     now,
		granted: granted,
		holder:  lease.New(config),
		ask:     make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
}

// start takes a number and starts the goroutine.
func (k *keeper) start(ctx context.Context) error {
	k.store.watch = k.checkSkew
	err := k.acquire(ctx)
	k.store.watch = k.warnSkew
	if err != nil {
		// What was written without an answer is given back, if it can be.
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = k.giveBack(cleanup, 0)
		return k.fail(ctx, "take a number from", err)
	}
	k.publish(nil)
	running, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.run(running)
	return nil
}

// acquire takes a number, and tries again when transactions get in each other's
// way. Every other error is the caller's.
func (k *keeper) acquire(ctx context.Context) error {
	var last error // Retry tells only ctx's when that ends
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := k.round(ctx)
		if last = err; err != nil && !k.transient(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(k.retries()), backoff.WithMaxElapsedTime(acquireFor))
	if err != nil {
		return last
	}
	return nil
}

// transient tells the error of a request that is to be made again: others were in
// its way.
func (k *keeper) transient(err error) bool {
	return errors.Is(err, errOvertaken) || k.leaser.dialect().transient(err)
}

// acquireFor is how long a start goes on trying when others get in its way.
const acquireFor = 30 * time.Second

// retries is the time between attempts.
func (k *keeper) retries() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = min(50*time.Millisecond, k.beat())
	b.MaxInterval = min(5*time.Second, k.beat())
	return b
}

// beat is the time between two signs of life.
func (k *keeper) beat() time.Duration { return k.leaser.expiry / 4 }

// patience is how long one request may take.
func (k *keeper) patience() time.Duration { return min(max(k.beat(), time.Second), 5*time.Second) }

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	retry := k.retries()
	timer := time.NewTimer(k.beat())
	defer timer.Stop()
	var failed error
	for {
		wishes := k.ask
		if failed != nil {
			wishes = nil // the pace is the retries'
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-wishes:
			if k.used.Load() <= k.mark.Load() {
				continue // fulfilled by the last round, during which it was made
			}
		}
		err := k.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = k.fail(ctx, "renew a number in", err)
		}
		k.publish(err)
		k.report(failed, err)
		if failed = err; failed == nil {
			retry.Reset()
			timer.Reset(k.beat())
		} else {
			timer.Reset(retry.NextBackOff())
		}
	}
}

// round asks the store until the number is held, or held for longer. A number that
// turns out to be lost is followed by another in the same round.
func (k *keeper) round(ctx context.Context) error {
	k.plan()
	k.unanswered = false
	_, before := k.holder.Grant()
	for {
		done, err := k.step(ctx)
		switch {
		case errors.Is(err, lease.ErrLost):
			k.publish(err)
			k.log(slog.LevelWarn, "worker: the number is lost; taking another", "error", err)
			before = false
		case done && !before && k.stop != nil:
			k.pace = pace{}
			k.log(slog.LevelInfo, "worker: another number is taken")
			return nil
		case done || err != nil:
			return err
		}
	}
}

// step asks the store one thing.
func (k *keeper) step(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.patience())
	defer cancel()
	request := k.holder.Next()
	answer := k.store.do(ctx, request)
	done, err = k.holder.Take(request, answer)
	if err == nil && answer.Err != nil && !k.transient(answer.Err) {
		// A write has no answer. The row tells what came of it; but what it tells
		// is to be published, and the next write not hurried, if that has none
		// either.
		if k.unanswered {
			err = answer.Err
		}
		k.unanswered = true
	}
	return done, err
}

// plan tells the holder how far to reserve.
func (k *keeper) plan() {
	used := k.used.Load()
	grant, held := k.holder.Grant()
	ahead := int64(0)
	if held {
		ahead = min(k.pace.ahead(time.Now(), used, max(grant.From, k.leaser.millis(k.now())), k.beat()), k.most.Load())
	}
	k.holder.Use(used, ahead)
}

// publish says what the holder owns.
func (k *keeper) publish(err error) {
	grant, held := k.holder.Grant()
	if !held {
		k.granted(-1, time.Time{}, time.Time{}, err)
		return
	}
	// More is asked for when half of what is left is used.
	from := max(grant.From, k.used.Load(), k.leaser.millis(k.now()))
	k.mark.Store(min(grant.Until, from+(grant.Until-from)/2))
	k.granted(grant.Number, time.UnixMilli(grant.From), time.UnixMilli(grant.Until), err)
}

// report logs when renewing begins to fail, and when it works again.
func (k *keeper) report(before, after error) {
	_, held := k.holder.Grant()
	switch {
	case before == nil && after != nil && held:
		k.log(slog.LevelWarn, "worker: the number is not renewed; ids go on as far as time is reserved", "error", after)
	case before == nil && after != nil:
		k.log(slog.LevelWarn, "worker: no number is held, and no ids are made", "error", after)
	case before != nil && after == nil:
		k.log(slog.LevelInfo, "worker: the number is renewed again")
	}
}

func (k *keeper) log(level slog.Level, message string, args ...any) {
	grant, held := k.holder.Grant()
	if held {
		args = append(args, "number", grant.Number, "reserved_until", time.UnixMilli(grant.Until).UTC())
	}
	k.leaser.log().Log(context.Background(), level, message, append(args, "table", k.leaser.name)...)
}

// Use implements Lease.
func (k *keeper) Use(used, most time.Time) {
	u := k.leaser.millis(used)
	k.most.Store(k.leaser.millis(most))
	for before := k.used.Load(); u > before && !k.used.CompareAndSwap(before, u); {
		before = k.used.Load()
	}
	if u > k.mark.Load() {
		select {
		case k.ask <- struct{}{}:
		default: // a wish that has not been read yet says the same
		}
	}
}

// Release implements Lease.
func (k *keeper) Release(ctx context.Context, next time.Time) error {
	k.release.Do(func() {
		k.stop()
		<-k.done
		if err := k.giveBack(ctx, k.leaser.millis(next)); err != nil {
			k.released = k.fail(ctx, "give a number back to", err)
		}
	})
	return k.released
}

// giveBack releases what is held. It tries again until ctx ends.
func (k *keeper) giveBack(ctx context.Context, next int64) error {
	if !k.holder.Leave(next) {
		return nil
	}
	var last error // as in acquire
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		k.unanswered = false
		for {
			if done, err := k.step(ctx); done || err != nil {
				last = err
				return struct{}{}, err
			}
		}
	}, backoff.WithBackOff(k.retries()), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return last
	}
	return nil
}

// fail words an error.
func (k *keeper) fail(ctx context.Context, doing string, err error) error {
	var exhausted *lease.ExhaustedError
	if errors.As(err, &exhausted) {
		return &ExhaustedError{Number: exhausted.Next, Max: exhausted.Limit, Held: exhausted.Held, Table: k.leaser.name}
	}
	return k.leaser.fail(ctx, doing, err)
}

// millis returns t in milliseconds since 1970, rounded up: what is used or free is
// never less than t.
func (l *Leaser) millis(t time.Time) int64 {
	if t.IsZero() || t.Unix() < 0 {
		return 0
	}
	if t.Unix() > lease.MaxInstant/1000 {
		return lease.MaxInstant
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}
