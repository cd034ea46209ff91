package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// NewPermanent returns a source that grants an Assigner's number without a time limit.
func NewPermanent(a Assigner) *Permanent { return &Permanent{a} }

// Permanent grants a number without a time limit. Make one with [NewPermanent].
type Permanent struct{ assigner Assigner }

// String describes, for logs, where the number comes from.
func (p *Permanent) String() string {
	if named, ok := p.assigner.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", p.assigner)
}

// Assign implements [Assigner].
func (p *Permanent) Assign(ctx context.Context, limit int64) (int64, error) {
	if p.assigner == nil {
		return 0, errors.New("lease: NewPermanent: the Assigner is nil")
	}
	return p.assigner.Assign(ctx, limit)
}

// Lease assigns a number and grants it without a time limit. It checks neither the clock nor the
// layout.
func (p *Permanent) Lease(ctx context.Context, r Request) (Lease, error) {
	number, err := p.Assign(ctx, r.Limit)
	if err != nil {
		return nil, err
	}
	r.Granted(Grant{Held: true, Number: number})
	return kept{}, nil
}

// NewStatic returns a source, which is also an [Assigner], for a number from elsewhere, such as a
// configuration file.
//
// The caller promises that no other generator uses the number with the same layout, and that
// generators that used it earlier stamped ids only with ticks before the current one. Otherwise,
// ids repeat. A restart within the same tick breaks the promise, and so does a restart before the
// clock has caught up with borrowed time. If you cannot keep the promise, lease any number, or lease
// this one: worker.NewLeaser(db, lease.Config{Assigner: lease.NewStatic(7)}).
func NewStatic(number int64) *Permanent { return NewPermanent(static(number)) }

type static int64

func (static) String() string { return "static worker" }

func (n static) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

type kept struct{}

func (kept) Use(_, _ time.Time) {}

func (kept) Release(context.Context, time.Time) error { return nil }
