package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease/internal/protocol"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Leaser leases numbers. Make one with New. It opens no connections itself and is safe for
// concurrent use; each call to Lease creates a new holder.
type Leaser struct {
	store  leasestore.Store
	config Config // with the defaults
	chosen bool   // the config names the number, or the range of numbers
	faults error  // of the store and the config
}

// New returns a Leaser for the numbers in store. New itself does not call the store. The Leaser's
// methods report, in one error, everything that is invalid in config and in the store's settings.
func New(store leasestore.Store, config Config) *Leaser {
	l := &Leaser{store: store, chosen: config.Numbers != nil || config.Assigner != nil}
	faults := config.prepare()
	if store == nil {
		faults.Add("store", "nil", "one such as worker.NewStore(db, worker.StoreConfig{})")
	}
	l.config, l.faults = config, faults.Err()
	return l
}

// String returns the store's name, for logs.
func (l *Leaser) String() string {
	if l.store == nil {
		return "no store"
	}
	return l.store.String()
}

func (l *Leaser) check() error {
	if p, ok := l.store.(leasestore.Preparer); ok {
		return errors.Join(l.faults, p.Check())
	}
	return l.faults
}

// Lease takes a number from 0 to r.Limit, within Config.Numbers, and keeps it until Release is
// called. It calls r.Granted before it returns, and then whenever the grant changes.
//
// ctx bounds only this call. Errors match
//
//   - ErrExhausted (an ExhaustedError) when every number has a live holder;
//   - ErrHeld if the number that Config.Assigner chose has a holder: Lease waits for the holder's
//     lease to expire, and fails if the holder sends a heartbeat or ctx is done first;
//   - ErrLayout (a LayoutError) when the store remembers another layout: see [Leaser.Layout];
//   - ErrSkew if r.Clock differs too much from the store's clock;
//   - ErrConfig for invalid fields in the configs.
//
// Other errors are about the store's settings or the environment (see DetectNode), or wrap the
// store's error with the operation and the store's name.
func (l *Leaser) Lease(ctx context.Context, r Request) (Lease, error) {
	faults := invalid.Of("lease")
	if r.Limit < 0 {
		faults.Add("Request.Limit", r.Limit, "0 or more")
	} else if from := l.config.Numbers.From; from > r.Limit {
		faults.Add("Numbers.From", from, fmt.Sprintf("at most %d, the largest number that the layout allows", r.Limit))
	}
	if r.Clock == nil {
		faults.Add("Request.Clock", "nil", "a clock")
	}
	if r.Granted == nil {
		faults.Add("Request.Granted", "nil", "a function")
	}
	if r.Fresh && l.config.Assigner != nil {
		faults.Add("Assigner", "set", "nil, because this generator needs a number that was never given out")
	}
	node, err := l.config.node()
	if err := errors.Join(l.check(), faults.Err(), err); err != nil {
		return nil, err
	}
	within := leasestore.Range{From: l.config.Numbers.From, To: min(l.config.Numbers.To, r.Limit)}
	exact, err := l.exact(ctx, within)
	if err != nil {
		return nil, err
	}
	if exact >= 0 {
		within = leasestore.Range{From: exact, To: exact}
	}
	if err := ctx.Err(); err != nil {
		return nil, l.fail(ctx, "take a number from", err)
	}
	k := l.keeper()
	k.node, k.request, k.within, k.exact = node, r, within, exact
	k.hold()
	if err := k.start(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// keeper returns a keeper that holds nothing.
func (l *Leaser) keeper() *keeper {
	return &keeper{leaser: l, more: make(chan struct{}, 1), done: make(chan struct{}), timeout: newTimeout(l.config.Expiry/4, 2*firstTimeout)}
}

// hold has the keeper begin with a holder that holds nothing.
func (k *keeper) hold() {
	k.holder = protocol.New(protocol.Config{
		Limit:  k.within.To,
		Exact:  k.exact,
		Fresh:  k.request.Fresh,
		Window: k.leaser.config.Window.Milliseconds(),
		Token:  rand.Text,
		Pick:   mathrand.Int64N,
	})
}

// exact returns the only number to hold, -1 for any.
func (l *Leaser) exact(ctx context.Context, within leasestore.Range) (int64, error) {
	if l.config.Assigner == nil {
		return -1, nil
	}
	number, err := l.config.Assigner.Assign(ctx, within.To)
	if err != nil {
		return 0, err
	}
	if number < within.From || number > within.To {
		return 0, fmt.Errorf("lease: Assigner: number is %d, want %d to %d, the largest that may be given out", number, within.From, within.To)
	}
	return number, nil
}

func (l *Leaser) log() *slog.Logger { return cmp.Or(l.config.Logger, slog.Default()) }
