package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Request is what a generator asks of a Leaser.
type Request struct {
	// Limit is the largest number that the layout can hold.
	Limit int64

	// Clock is the clock that stamps ids. It may be called from any goroutine.
	Clock func() time.Time

	// Granted receives each Grant, from one goroutine at a time. It must not block or
	// call Release.
	Granted func(Grant)

	// Layout is the text of the ids' layout, which a store remembers. A start with another
	// layout fails with a [LayoutError], because ids of two layouts can be equal. Empty
	// compares nothing.
	Layout string

	// PreviousLayout is the text of an earlier layout, which Layout may replace in the store.
	// Set it only if ids of the two layouts cannot be equal: see bits.NewSuccession.
	PreviousLayout string

	// Fresh asks for a number that was never given before; the start of a Leaser looks for no
	// free number. Each Grant then has Fresh. A Config with an Assigner refuses it.
	Fresh bool
}

// Grant is what a generator may stamp: the ticks of Number that begin at From or
// later and end at Until or earlier. A Grant replaces the Grant before it; ids that were
// already stamped stay valid.
type Grant struct {
	Held   bool      // false: no number is held; the generator stamps nothing, and drops the ids in its ring
	Number int64     // the worker number
	From   time.Time // zero: from the beginning
	Until  time.Time // zero: no end
	Fresh  bool      // the number was never given before: nobody else stamps under it before Until
	Err    error     // why the grant cannot be extended; nil while renewing works
}

// Lease is a worker number that is held.
type Lease interface {
	// Use reports that the generator has stamped or needs instants up to used, and
	// needs none beyond most for now. The lease reserves more before used reaches the
	// end of the grant. Use does not block, and may be called from several goroutines.
	Use(used, most time.Time)

	// Release gives the number back. next is the first instant that the holder has
	// not stamped; the next holder starts there. Stamp nothing after calling
	// Release. Further calls do nothing.
	Release(ctx context.Context, next time.Time) error
}

// Assigner gives a worker number from 0 to limit for good. It ensures that no other
// generator of the same layout ever uses the number.
type Assigner interface {
	Assign(ctx context.Context, limit int64) (number int64, err error)
}

// NewPermanent returns a leaser that grants an Assigner's number without end.
func NewPermanent(a Assigner) *Permanent { return &Permanent{a} }

// Permanent grants a number without end. Make one with [NewPermanent].
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

// Lease assigns a number and grants all of its time. It reads no clock and no layout.
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
