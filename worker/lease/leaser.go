package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"os"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// Leaser leases numbers. A number has one holder at a time. After a clean end the
// number is free at once, after a crash when the expiry has passed. Make a Leaser with
// New. It holds no connection of its own and is safe for concurrent use; every call of
// Lease makes another holder.
type Leaser struct {
	store    Store
	window   time.Duration
	expiry   time.Duration
	maxSkew  time.Duration
	within   Bounds
	assigner Assigner // nil is any number
	detect   func() (Node, error)
	logger   *slog.Logger // nil is slog.Default
	faults   []error      // of the options
}

// New returns a Leaser of the numbers in store, without calling the store. The methods
// report all faults of the store and the options at once.
func New(store Store, opts ...Option) *Leaser {
	l := &Leaser{
		store:   store,
		window:  DefaultWindow,
		expiry:  DefaultExpiry,
		maxSkew: DefaultMaxSkew,
		within:  Bounds{0, math.MaxInt64},
		detect:  func() (Node, error) { return DetectNode(os.Getenv) },
	}
	for _, opt := range opts {
		opt(l)
	}
	if l.window < l.expiry {
		l.fault("WithWindow: %v is shorter than the expiry, %v", l.window, l.expiry)
	}
	return l
}

// String names the store, for logs.
func (l *Leaser) String() string {
	if l.store == nil {
		return "no store"
	}
	return l.store.Name()
}

// check returns all faults of the options and the store.
func (l *Leaser) check() error {
	faults := l.faults[:len(l.faults):len(l.faults)]
	if l.store == nil {
		return errors.Join(append(faults, errors.New("lease: New: the store is nil"))...)
	}
	if p, ok := l.store.(Preparer); ok {
		faults = append(faults, p.Check())
	}
	return errors.Join(faults...)
}

// Lease takes a number from 0 to r.Limit, within Range, and keeps the number until
// Release is called. It prefers a free number without reserved time in the future, then
// a new number, then the free number with the least reserved time.
//
// Lease calls r.Granted before it returns, and then whenever the grant changes.
//
// ctx bounds the start only. Errors match
//
//   - ErrExhausted (an ExhaustedError) when every number has a holder;
//   - ErrHeld when the number of WithNumber has a holder;
//   - ErrLayout (a LayoutError) when the store remembers another layout;
//   - ErrSkew when r.Clock is too far from the store's clock.
//
// Other errors are about the options, the store's settings or the environment (see
// DetectNode). Or they wrap the store's error, with the operation and the store's name.
func (l *Leaser) Lease(ctx context.Context, r Request) (Lease, error) {
	faults := []error{l.check()}
	if r.Limit < 0 {
		faults = append(faults, fmt.Errorf("lease: Limit %d: want 0 or more", r.Limit))
	} else if l.within.From > r.Limit {
		faults = append(faults, fmt.Errorf("lease: Range: it begins at %d, want %d at most, the largest that the layout allows", l.within.From, r.Limit))
	}
	if r.Clock == nil || r.Granted == nil {
		faults = append(faults, errors.New("lease: Lease: want Clock and Granted, not nil"))
	}
	node, err := l.detect()
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}
	within := Bounds{l.within.From, min(l.within.To, r.Limit)}
	exact, err := l.exact(ctx, within)
	if err != nil {
		return nil, err
	}
	if exact >= 0 {
		within = Bounds{exact, exact}
	}
	if err := ctx.Err(); err != nil {
		return nil, l.fail(ctx, "take a number from", err)
	}
	k := &keeper{
		leaser:  l,
		node:    node,
		request: r,
		within:  within,
		holder: protocol.New(protocol.Config{
			Limit:  within.To,
			Exact:  exact,
			Window: l.window.Milliseconds(),
			Token:  rand.Text,
			Pick:   mathrand.Int64N,
		}),
		ask:   make(chan struct{}, 1),
		done:  make(chan struct{}),
		bound: newBound(l.expiry/4, 2*firstBound),
	}
	if err := k.start(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// exact returns the only number to hold, -1 for any.
func (l *Leaser) exact(ctx context.Context, within Bounds) (int64, error) {
	if l.assigner == nil {
		return -1, nil
	}
	number, err := l.assigner.Assign(ctx, within.To)
	if err != nil {
		return 0, err
	}
	if number < within.From || number > within.To {
		return 0, fmt.Errorf("lease: WithNumber: number is %d, want %d to %d, the largest that may be given", number, within.From, within.To)
	}
	return number, nil
}

func (l *Leaser) log() *slog.Logger { return cmp.Or(l.logger, slog.Default()) }
