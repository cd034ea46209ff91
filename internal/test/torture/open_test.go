//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// generator has the methods of all generators on worker numbers.
type generator interface {
	uid.Generator
	Stats() uid.Stats
}

// counting gives a segment.Generator the methods that settled calls.
type counting struct{ *segment.Generator }

func (c counting) Stats() uid.Stats { return uid.Stats{Issued: c.Generator.Stats().Issued} }

// hopeless are the errors with which no start may fail, in any state of the backend: all
// of them mean a wrong setting, or clocks that differ, and the test has one clock.
var hopeless = []error{
	uid.ErrConfig, uid.ErrWorkerRange, uid.ErrTimeExhausted, uid.ErrClosed,
	lease.ErrSkew, worker.ErrDB, worker.ErrDialect, worker.ErrNoTable, worker.ErrKey, lease.ErrRewound,
	segment.ErrConfig, segment.ErrUnknownTag, segment.ErrUsedUp, segment.ErrRewound,
}

// open tries to open a generator until that succeeds: others may hold all numbers, and the
// backend may be unavailable. open returns nil when ctx ends.
func (c *child) open(ctx context.Context) (generator, error) {
	dry := 0 // attempts, one after the other
	for attempt := int64(1); ; attempt++ {
		g, err := c.try(ctx, attempt)
		if err == nil {
			c.out.say(recordOpen, "", attempt)
			return g, nil
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		for _, fault := range hopeless {
			if errors.Is(err, fault) {
				return nil, fmt.Errorf("attempt %d to open a generator: %w", attempt, err)
			}
		}
		wanting := int64(0)
		if unreserved(err) {
			wanting, dry = 1, dry+1
		} else {
			dry = 0
		}
		if dry == 3 {
			return nil, fmt.Errorf("a generator does not start for want of time that could be reserved: %w", err)
		}
		c.out.say(recordRefused, err.Error(), wanting)
		_ = sleep(ctx, 50*time.Millisecond)
	}
}

// unreserved reports whether a start failed because no time was reserved, though the
// error names nothing that prevents a reservation and there was time for one.
func unreserved(err error) bool {
	var reservation *uid.ReservationError
	return errors.As(err, &reservation) && reservation.Err == nil && !errors.Is(err, context.DeadlineExceeded)
}

// openFor bounds one attempt.
const openFor = 5 * time.Second

// try opens a generator.
func (c *child) try(ctx context.Context, attempt int64) (_ generator, err error) {
	if c.access == nil {
		if c.access, err = open(c.URL, c.logger()); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	if c.Kind != kindCounter {
		return c.stamping(ctx, attempt)
	}
	g, err := segment.New(ctx, &reserver{c.access.counters, c}, tag, segment.Config{
		Step: firstStep, MaxStep: mostStep, Ahead: ahead, LoadTimeout: time.Second, Logger: silent,
	})
	return nilOr(counting{g}, err)
}

// stamping opens a generator under a lease of its own, which the history knows by
// the process and the attempt.
func (c *child) stamping(ctx context.Context, attempt int64) (generator, error) {
	leaser := c.leaser(attempt)
	switch c.Kind {
	case kindDefault:
		return nilOr(uid.NewDefault(ctx, leaser, uid.DefaultConfig{Layout: c.Layout, Now: c.now, Logger: silent}))
	case kindSlots:
		return nilOr(uid.NewSlots(ctx, leaser, uid.SlotsConfig{Layout: c.Layout, Slots: c.slots(), Now: c.now, Logger: silent}))
	}
	config := uid.CachedConfig{Layout: c.Layout, Now: c.now, Logger: silent, BoostPower: c.Boost}
	if c.Wait {
		config.RejectedTake = uid.Wait
	}
	if c.Modest && attempt <= 3 { // a number with much reserved time is out of its reach; it does not try for ever
		config.MaxBorrow = time.Second
	}
	return nilOr(uid.NewCached(ctx, leaser, config))
}

// nilOr keeps a nil pointer from becoming a generator that is not nil.
func nilOr[G generator](g G, err error) (generator, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}
