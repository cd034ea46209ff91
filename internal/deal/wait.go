package deal

import "context"

// Ready and Otherwise call their parameter. A generator's Wait calls the two, since the
// compiler inlines such a Wait into its callers, and TakeOne into Wait. As parameters, TakeOne
// and WaitOne count less: see "Why Take is inlined" in the design of package ringbuffer.
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
