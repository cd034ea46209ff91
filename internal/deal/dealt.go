package deal

import (
	"context"

	"github.com/uidring/uidring/ringbuffer"
)

// Dealt has the methods that a [Dealer] gives to a uid.Generator. A generator embeds it
// under a name of its own.
type Dealt[ID ~int64, Run run[ID]] struct {
	claims[ID, Run]
	ring   *ringbuffer.Ring // of dealer
	dealer *Dealer
}

// claims is a name that does not show in the type of a generator.
type claims[ID ~int64, Run run[ID]] = Claims[ID, Run]

// Of returns the methods of d.
func Of[ID ~int64, Run run[ID]](d *Dealer) Dealt[ID, Run] {
	return Dealt[ID, Run]{ClaimsOf[ID, Run](d), d.ring, d}
}

// Next returns the next id, from memory. When the ring is empty, the policy decides.
func (d Dealt[ID, Run]) Next() (id ID, err error) {
	taken, err := d.ring.Take()
	return ID(taken), err
}

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
func (d Dealt[ID, Run]) Wait(ctx context.Context) (id ID, err error) {
	taken := Ready(TakeOne, d.dealer)
	if taken == 0 {
		taken, err = Otherwise(WaitOne, ctx, d.dealer)
	}
	return ID(taken), err
}

// Ready and Otherwise call their parameter. The compiler inlines Wait into its callers, and
// TakeOne into Wait. As parameters, TakeOne and WaitOne count less: see "Why Take is
// inlined" in the design of package ringbuffer.
func Ready(take func(*Dealer) int64, d *Dealer) int64 { return take(d) }

// Otherwise is explained at Ready.
func Otherwise(wait func(context.Context, *Dealer) (int64, error), ctx context.Context, d *Dealer) (int64, error) {
	return wait(ctx, d)
}

// TakeOne returns an id that is ready, or 0, which stands for none.
func TakeOne(d *Dealer) int64 {
	id, _ := d.ring.TryTake()
	return id
}

// WaitOne waits for an id.
//
//go:noinline
func WaitOne(ctx context.Context, d *Dealer) (int64, error) {
	run, err := d.Claim(ctx, 1, Wait)
	return run.First, err
}

// Close is Shutdown with a deadline of [CloseTimeout].
func (d Dealt[ID, Run]) Close() error { return d.dealer.Close() }

// Shutdown ends every wait, and drops or gives back the ids that were not dealt.
func (d Dealt[ID, Run]) Shutdown(ctx context.Context) error { return d.dealer.Shutdown(ctx) }
