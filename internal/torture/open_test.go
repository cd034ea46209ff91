//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// hopeless are the errors with which a start must not fail, however the database
// does: all of them say that something is set wrongly, or that clocks, of which
// there is one here, are apart.
var hopeless = []error{
	database.ErrURL, uid.ErrConfig, uid.ErrWorkerRange, uid.ErrTimeExhausted, uid.ErrClosed,
	worker.ErrNotLeased, worker.ErrSkew, worker.ErrDB, worker.ErrDialect, worker.ErrNoTable, worker.ErrKey, worker.ErrRewound,
}

// open opens a generator, again and again until it succeeds: numbers may be held
// by others, and the database may be away. It returns nil when ctx ends.
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
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// unreserved reports whether a start failed for want of reserved time, though
// nothing is said to keep more from being reserved and there was time to do it.
func unreserved(err error) bool {
	var reservation *uid.ReservationError
	return errors.As(err, &reservation) && reservation.Err == nil && !errors.Is(err, context.DeadlineExceeded)
}

// openFor bounds one attempt.
const openFor = 5 * time.Second

// try opens a generator under a lease of its own, which the history knows by the
// process and the attempt.
func (c *child) try(ctx context.Context, attempt int64) (generator, error) {
	if c.db == nil {
		db, err := database.Open(c.URL)
		if err != nil {
			return nil, err
		}
		c.db = db
	}
	ctx, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	silent := slog.New(slog.DiscardHandler)
	options := []worker.Option{
		worker.WithNode(worker.Node{Host: c.Host, Port: strconv.FormatInt(attempt, 10), Type: worker.Actual}),
		worker.WithExpiry(c.Expiry), worker.WithWindow(c.Window), worker.WithLogger(silent),
	}
	if c.Exact >= 0 {
		options = append(options, worker.WithNumber(uid.StaticWorker(c.Exact)))
	}
	leaser := &witness{Leaser: worker.NewLeaser(c.db, options...), child: c, attempt: attempt}
	leaser.number.Store(-1)
	c.lease = leaser
	config := uid.Config{Layout: c.Layout, Now: c.now, Logger: silent}
	if c.Default {
		return nilOr(uid.NewDefault(ctx, leaser, config))
	}
	config.BoostPower = c.Boost
	if c.Wait {
		config.RejectedTake = uid.Wait
	}
	if c.Modest && attempt <= 3 { // numbers with much reserved are beyond its means; it does not try for ever
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
