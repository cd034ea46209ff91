package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/lease"
)

// Leaser gives numbers that come back: each is one holder's at a time, and is
// free again after a clean end at once, and after a crash when its holder has not
// been heard of for a while. The package comment tells the protocol, and why no
// id repeats whatever clocks, pauses and partitions do. Make one with NewLeaser.
// It holds no connection of its own and is safe for concurrent use; every Lease is
// a holder of its own.
type Leaser struct {
	table
	window  time.Duration
	expiry  time.Duration
	maxSkew time.Duration
	number  Source // nil is any
}

// NewLeaser returns a Leaser whose rows are in the table WORKER_LEASE of db. It
// does not touch the database; whatever is wrong with db or the options is
// reported by the methods, all at once.
//
// Of db only the connections that it was opened with are used. With replicas,
// those must be the primary's.
func NewLeaser(db *gorm.DB, opts ...Option) *Leaser {
	s := newSettings(leaserKind, db, opts)
	return &Leaser{s.table, s.window, s.expiry, s.maxSkew, s.number}
}

// Assign returns ErrNotLeased: a number without the time that is reserved for it
// is not safe to use. The generators of package uid call Lease instead.
func (l *Leaser) Assign(context.Context, int64) (int64, error) {
	return 0, fmt.Errorf("%w: %s", ErrNotLeased, l.name)
}

// Lease takes a number from 0 to limit and keeps it until Release is called: a
// free one whose time is not reserved ahead of the present, else a new one, else
// the free one with the least reserved. now is the clock that the caller stamps
// by.
//
// granted is called with what the holder owns, before Lease returns and then
// whenever it changes, from one goroutine at a time: the ticks of number that
// begin at from or later and end at until or earlier. A call replaces what an
// earlier one said, but for ticks already stamped. err is why the grant is not
// being renewed, nil as long as it is. After a loss number is -1 until another is
// held. granted must not block nor call Release.
//
// ctx bounds the start only. Errors: ExhaustedError (ErrExhausted) when every
// number has a holder; ErrHeld with WithNumber; ErrSkew when now is too far from
// the database's clock; those of Registry.Assign about handle, options and
// environment; or the driver's, wrapped with what was being done and the table.
func (l *Leaser) Lease(ctx context.Context, limit int64, now func() time.Time,
	granted func(number int64, from, until time.Time, err error)) (Lease, error) {
	faults := []error{l.check()}
	if limit < 0 {
		faults = append(faults, fmt.Errorf("worker: limit %d: want 0 or more", limit))
	}
	if now == nil || granted == nil {
		faults = append(faults, errors.New("worker: Lease: want a clock and a function to grant to, not nil"))
	}
	node, err := l.detect()
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}
	exact := int64(-1)
	if l.number != nil {
		if exact, err = l.number.Assign(ctx, limit); err != nil {
			return nil, err
		}
		if exact < 0 || exact > limit {
			return nil, fmt.Errorf("worker: WithNumber: number is %d, want 0 to %d, the largest that the layout allows", exact, limit)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, l.fail(ctx, "take a number from", err)
	}
	if l.ensure {
		if err := l.ensureSchema(ctx); err != nil {
			return nil, err
		}
	}
	store, err := l.store(node, limit, now)
	if err != nil {
		return nil, err
	}
	k := newKeeper(l, store, now, granted, lease.Config{
		Limit:  limit,
		Exact:  exact,
		Window: l.window.Milliseconds(),
		Token:  rand.Text,
		Pick:   mathrand.Int64N,
	})
	if err := k.start(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// EnsureSchema creates the table if it is missing, as Registry.EnsureSchema does.
// Lease calls it unless WithoutSchema was given.
func (l *Leaser) EnsureSchema(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.ensureSchema(ctx)
}
