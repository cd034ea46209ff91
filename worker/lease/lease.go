package lease

import (
	"context"
	"errors"
	"time"
)

// Grant is what a generator may stamp: the ticks of Number that begin at From or
// later and end at Until or earlier. A grant replaces the one before it, except
// for ticks that are stamped already.
type Grant struct {
	Held   bool      // false: no number is held; nothing may be stamped, and ids in waiting are dropped
	Number int64     // the worker number
	From   time.Time // zero: from the beginning
	Until  time.Time // zero: no end
	Fresh  bool      // the number was never given before and is never given again
	Err    error     // why the grant is not being extended; nil while that works
}

// Lease is a worker number that is held.
type Lease interface {
	// Use reports that instants up to used are stamped or wanted. No instant
	// beyond most is needed for now. The lease reserves more in time. Use does not
	// block, and may be called from several goroutines.
	Use(used, most time.Time)

	// Release gives the number back. next is the first instant that the holder has
	// not stamped; the next holder starts there. Stamp nothing after calling
	// Release. Further calls do nothing.
	Release(ctx context.Context, next time.Time) error
}

// Assigner gives a worker number from 0 to limit that the caller keeps. It
// ensures that no other generator of the same layout ever uses the number.
type Assigner interface {
	Assign(ctx context.Context, limit int64) (number int64, err error)
}

// Forever grants an Assigner's number to a generator without end.
func Forever(a Assigner) *Permanent { return &Permanent{a} }

// Permanent is a number without an end. Make one with [Forever].
type Permanent struct{ assigner Assigner }

var errNoAssigner = errors.New("lease: Forever: the Assigner is nil")

// Assign implements [Assigner].
func (p *Permanent) Assign(ctx context.Context, limit int64) (int64, error) {
	if p.assigner == nil {
		return 0, errNoAssigner
	}
	return p.assigner.Assign(ctx, limit)
}

// Lease assigns a number and grants all of its time. The clock is not read.
func (p *Permanent) Lease(ctx context.Context, limit int64, _ func() time.Time, granted func(Grant)) (Lease, error) {
	number, err := p.Assign(ctx, limit)
	if err != nil {
		return nil, err
	}
	granted(Grant{Held: true, Number: number})
	return kept{}, nil
}

// kept is the lease of a number that never ends.
type kept struct{}

func (kept) Use(_, _ time.Time) {}

func (kept) Release(context.Context, time.Time) error { return nil }
