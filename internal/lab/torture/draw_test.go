//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// draw takes ids from g, at about the child's rate, until g is closed. An error
// that no id may be issued for now is recorded; any other is returned.
func (c *child) draw(g uid.Generator, drawer int) error {
	rng := rand.New(rand.NewPCG(c.Seed, uint64(drawer)))
	buffer := make([]uid.ID, 8192)
	each := time.Second * drawers / time.Duration(c.Rate)
	for {
		before := c.greatest.Load()
		ids, err := c.take(g, rng, buffer)
		c.tell(c.runs(drawer, ids)...)
		if err := c.account(before, ids); err != nil {
			return err
		}
		pause := time.Duration(len(ids)) * each
		if len(ids) > 1000 {
			pause = 0 // a burst, which borrows time
		}
		switch {
		case err == nil:
		case errors.Is(err, uid.ErrClosed):
			return nil
		default:
			lacks, ok := c.none(err)
			if !ok || errors.Is(err, lease.ErrRewound) {
				return fmt.Errorf("no id: %w", err)
			}
			rewound := int64(0)
			if errors.Is(err, uid.ErrRewound) {
				rewound = 1
			}
			c.say(recordNone, "", lacks.Milliseconds(), rewound)
			pause = 5 * time.Millisecond
		}
		time.Sleep(pause/2 + time.Duration(rng.Int64N(int64(pause)+1)))
	}
}

// take takes some ids by one of the generator's methods.
func (c *child) take(g uid.Generator, rng *rand.Rand, buffer []uid.ID) (ids []uid.ID, err error) {
	var one uid.ID
	switch way := rng.IntN(100); {
	case way < 5:
		for range 1 + rng.IntN(20) {
			if one, err = g.Next(); err != nil {
				return ids, err
			}
			ids = append(ids, one)
		}
		return ids, nil
	case way < 10:
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		for range 1 + rng.IntN(20) {
			if one, err = g.Wait(ctx); err != nil {
				break
			}
			ids = append(ids, one)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // the wait has ended without an id
		}
		return ids, err
	case way < 12 && c.Kind != kindDefault:
		ids = buffer
	default:
		ids = buffer[:1+rng.IntN(800)]
	}
	if c.Kind == kindDefault { // which may wait for several ticks
		ids = ids[:min(len(ids), 100)]
	}
	n, err := g.NextN(ids)
	return ids[:n], err
}

// account checks ids that were drawn. before is the greatest id of all calls, of any
// goroutine, that ended before this call began. The ids must lie above before, except
// those of Slots, which promises no order.
func (c *child) account(before int64, ids []uid.ID) error {
	if len(ids) == 0 {
		return nil
	}
	if c.Kind != kindSlots && int64(ids[0]) <= before {
		return fmt.Errorf("id %d was drawn after %d", ids[0], before)
	}
	last := int64(slices.Max(ids))
	for before < last && !c.greatest.CompareAndSwap(before, last) {
		before = c.greatest.Load()
	}
	return nil
}

// runs turns ids into records, one for each run of consecutive ids.
func (c *child) runs(drawer int, ids []uid.ID) (records []record) {
	for i := 0; i < len(ids); {
		n := 1
		for i+n < len(ids) && ids[i+n] == ids[i]+uid.ID(n) {
			n++
		}
		records = append(records, record{Kind: recordIDs, Numbers: [4]int64{int64(drawer), int64(ids[i]), int64(n)}})
		i += n
	}
	return records
}

// none reports whether an error is one that a generator may return while it has no id, and
// how far the clock is behind the time of its number.
func (c *child) none(err error) (lacks time.Duration, ok bool) {
	var backward *uid.ClockBackwardError
	var limit *uid.BorrowLimitError
	var reservation *uid.ReservationError
	switch {
	case c.Kind == kindCounter:
		return 0, errors.Is(err, uid.ErrUnavailable) || errors.Is(err, uid.ErrRewound)
	case c.Kind == kindDefault && errors.As(err, &backward):
		return backward.Amount, true
	case c.Kind == kindCached && errors.As(err, &limit):
		return limit.Retry, true
	case c.Kind == kindSlots && errors.Is(err, uid.ErrNotReady):
		return c.behind(), true
	case errors.As(err, &reservation):
		if c.Kind == kindDefault && !reservation.Until.IsZero() {
			lacks = max(0, reservation.From.Sub(c.now()))
		}
		return lacks, true
	}
	return 0, false
}

// behind returns how long it takes until the clock reaches the first of the slots'
// ticks.
func (c *child) behind() time.Duration {
	begin, _ := c.tick(c.greatest.Load())
	last := time.UnixMilli(max(begin, c.lease.from.Load()))
	return max(0, last.Add(-time.Duration(c.slots())*c.Layout.Unit).Sub(c.now()))
}
