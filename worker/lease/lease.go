package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Request is a generator's request to a Leaser.
type Request struct {
	// Limit is the largest number that fits the layout.
	Limit int64

	// Clock is the clock that stamps ids. It may be called from any goroutine.
	Clock func() time.Time

	// Granted receives each Grant, from one goroutine at a time. It must not block or
	// call Release.
	Granted func(Grant)

	// Layout is the ids' layout as text, which a store remembers. A generator with another layout
	// fails to start ([LayoutError]), because ids of two layouts can be equal. Empty skips the
	// check.
	Layout string

	// PreviousLayout is an earlier layout, which Layout may replace in the store. Set it only if
	// ids of the two layouts cannot be equal: see bits.NewSuccession.
	PreviousLayout string

	// Fresh asks for a number that was never given out before, so a Leaser does not look for a
	// free one. Each Grant is then Fresh. A Leaser with an Assigner rejects it.
	Fresh bool
}

// Grant is what a generator may stamp: the ticks of Number that begin at From or later and end at
// Until or earlier. A Grant replaces the previous one; ids that were already stamped stay valid.
type Grant struct {
	Held   bool      // if false, no number is held: the generator stamps nothing, and drops the ids in its ring
	Number int64     // the worker number
	From   time.Time // zero: from the beginning
	Until  time.Time // zero: no end
	Fresh  bool      // the number was never given out before: nobody else stamps under it before Until
	Err    error     // why the grant cannot be extended; nil while renewing works
}

// Lease is a worker number that is held.
type Lease interface {
	// Use reports that the generator has stamped or needs instants up to used, and needs none past
	// most for now. The lease reserves more before used reaches the end of the grant. Use does not
	// block, and is safe for concurrent use.
	Use(used, most time.Time)

	// Release gives the number back. next is the first instant that the holder has not stamped;
	// the next holder starts there. Stamp nothing after calling Release. Repeated calls do
	// nothing.
	Release(ctx context.Context, next time.Time) error
}

// Assigner gives out a worker number from 0 to limit permanently. It ensures that no other
// generator of the same layout ever uses the number.
type Assigner interface {
	Assign(ctx context.Context, limit int64) (number int64, err error)
}

// NewPermanent returns a source that grants an Assigner's number without a time limit.
func NewPermanent(a Assigner) *Permanent { return &Permanent{a} }

// Permanent grants a number without a time limit. Make one with [NewPermanent].
type Permanent struct{ assigner Assigner }

// String names where the number comes from, for logs.
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

// Lease assigns a number and grants it without a time limit. It checks neither clock nor layout.
func (p *Permanent) Lease(ctx context.Context, r Request) (Lease, error) {
	number, err := p.Assign(ctx, r.Limit)
	if err != nil {
		return nil, err
	}
	r.Granted(Grant{Held: true, Number: number})
	return kept{}, nil
}

type kept struct{}

func (kept) Use(_, _ time.Time) {}

func (kept) Release(context.Context, time.Time) error { return nil }
