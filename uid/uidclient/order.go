package uidclient

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// ringRuns is how many runs the ring of an order holds. Further ones wait.
const ringRuns = 256

// order deals the ids of one instance, which ascend, from a ring. An order ends when
// another instance answers; the next order deals that instance's ids.
type order struct {
	*deal.Dealer
	client   *Client
	instance string                // empty before the first answer; used by the source
	next     atomic.Pointer[order] // nil until the order ends; written by the source

	mu   sync.Mutex       // never held during I/O, nor by a taker
	runs []ringbuffer.Run // runs that are not in the ring yet
	half int64            // fetch when so many ids are left
	ages []age            // in ascending order
	old  int64            // ids up to it are too old
}

// age says when ids were fetched: the ids up to last that lie above the earlier age's last.
type age struct {
	last int64
	at   time.Time
}

func (c *Client) newOrder() *order {
	o := &order{client: c}
	config := padding.Config{Blocking: true}
	if c.config.MaxAge > 0 {
		config.Stale, config.StaleEvery = o.stale, c.config.MaxAge/8
	}
	o.Dealer, _ = deal.New(o.source, deal.Config{
		Runs:          ringRuns,
		RunLen:        MaxIDs,
		PaddingFactor: 99, // the ring asks whenever it begins to deal a run
		Padding:       config,
		Policy:        deal.PolicyOf("uidclient", c.config.RejectedTake, uid.PolicyHelp),
		Ended:         func() bool { return o.next.Load() != nil },
		Successor:     o.successor,
	}) // it refuses none of these
	return o
}

// successor returns the dealer that takes over a call that failed here, or nil if the
// failure ends the call.
func (o *order) successor(err error) *deal.Dealer {
	next := o.next.Load()
	switch {
	case next == nil || !errors.Is(err, errMoved) && !errors.Is(err, uid.ErrClosed):
		return nil
	case o.Ring().Remaining() > 0: // a run was put meanwhile
		return o.Dealer
	}
	o.client.leave()
	return next.Dealer
}

func (o *order) source(ctx context.Context) (ringbuffer.Run, error) {
	if o.next.Load() != nil {
		return ringbuffer.Run{}, errMoved
	}
	run, due := o.cut()
	if run.N > 0 || !due {
		return run, nil
	}
	answer, err := o.client.refill(ctx)
	switch {
	case err != nil:
		return ringbuffer.Run{}, err
	case o.instance != "" && o.instance != answer.Instance:
		return ringbuffer.Run{}, o.end(ctx, answer)
	}
	o.accept(answer)
	run, _ = o.cut()
	return run, nil
}

// end starts the next order, with another instance's answer. The error is never nil.
func (o *order) end(ctx context.Context, a *answer) error {
	next := o.client.newOrder()
	next.accept(a)
	if err := next.Start(ctx, nil); err != nil { // it has ids, so it does not fetch
		return err
	}
	if !o.client.add(next) {
		_ = next.Close()
		return uid.ErrClosed
	}
	o.next.Store(next)
	o.client.leave()
	return errMoved
}

// accept adds the runs of an answer. A run ends where half of the answer is used, so
// that the ring asks there.
func (o *order) accept(a *answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.instance = a.Instance
	o.half = a.count / 2
	left := a.count - o.half // ids until the ring has to ask
	for _, run := range a.runs {
		if 0 < left && left < run.N {
			o.runs = append(o.runs, ringbuffer.Run{First: run.First, N: left})
			run = ringbuffer.Run{First: run.First + left, N: run.N - left}
			left = 0
		}
		left -= run.N
		o.runs = append(o.runs, run)
	}
	maxAge := o.client.config.MaxAge
	switch n := len(o.ages); {
	case maxAge < 0:
	case n > 0 && a.sent.Sub(o.ages[n-1].at) < maxAge/64: // keeps the list short
		o.ages[n-1].last = a.last()
	default:
		o.ages = append(o.ages, age{a.last(), a.sent})
	}
}

// cut returns the next run for the ring, or reports whether a fetch is due.
func (o *order) cut() (run ringbuffer.Run, due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.runs) > 0 {
		run, o.runs = o.runs[0], o.runs[1:]
		if run.Last() > o.old {
			return run, false
		}
	}
	return ringbuffer.Run{}, o.Ring().Remaining() <= o.half
}

// stale returns the greatest id that would be too old at the next check.
func (o *order) stale() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	oldest := o.client.config.MaxAge - o.client.config.MaxAge/8
	for len(o.ages) > 0 && time.Since(o.ages[0].at) >= oldest {
		o.old, o.ages = o.ages[0].last, o.ages[1:]
	}
	return o.old
}

func (o *order) remaining() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := o.Ring().Remaining()
	for _, run := range o.runs {
		left += run.N
	}
	return left
}
