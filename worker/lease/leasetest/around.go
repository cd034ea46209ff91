package leasetest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// around is a store whose calls go through call. w is nil unless the call makes or swaps a row.
type around struct {
	leasestore.Store
	call func(ctx context.Context, w *leasestore.Write, do func() error) error
}

func counting(s leasestore.Store, calls *atomic.Int64) leasestore.Store {
	return around{s, func(_ context.Context, _ *leasestore.Write, do func() error) error { calls.Add(1); return do() }}
}

var errLost = errors.New("leasetest: the answer was lost")

// lossy is a store that drops some requests and some answers.
func lossy(s leasestore.Store) leasestore.Store {
	return around{s, func(_ context.Context, w *leasestore.Write, do func() error) error {
		if w == nil {
			return do()
		}
		switch mathrand.IntN(12) {
		case 0:
			return errLost
		case 1:
			return cmp.Or(do(), errLost)
		}
		return do()
	}}
}

// forsaken is a store whose caller gives up when it has taken a number.
func forsaken(s leasestore.Store, giveUp context.CancelFunc) leasestore.Store {
	return around{s, func(_ context.Context, w *leasestore.Write, do func() error) error {
		if w == nil || w.Change != leasestore.Acquire {
			return do()
		}
		err := do()
		giveUp()
		return errors.Join(err, context.Canceled)
	}}
}

// Check and Prepare are those of the store, if it has them.
func (a around) Check() error {
	if p, ok := a.Store.(leasestore.Preparer); ok {
		return p.Check()
	}
	return nil
}

func (a around) Prepare(ctx context.Context, log *slog.Logger) error {
	if p, ok := a.Store.(leasestore.Preparer); ok {
		return p.Prepare(ctx, log)
	}
	return nil
}

func (a around) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (remembered string, err error) {
	err = a.call(ctx, nil, func() (err error) { remembered, err = a.Store.SwapLayout(ctx, old, terms); return err })
	return remembered, err
}

func (a around) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (view leasestore.View, err error) {
	err = a.call(ctx, nil, func() (err error) { view, err = a.Store.Look(ctx, within, full, expiry); return err })
	return view, err
}

func (a around) Read(ctx context.Context, number int64, expiry time.Duration) (row *leasestore.Row, now int64, err error) {
	err = a.call(ctx, nil, func() (err error) { row, now, err = a.Store.Read(ctx, number, expiry); return err })
	return row, now, err
}

func (a around) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	err = a.call(ctx, &w, func() (err error) { number, done, err = a.Store.Insert(ctx, w); return err })
	return number, done && err == nil, err
}

func (a around) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	err = a.call(ctx, &w, func() (err error) { done, err = a.Store.Swap(ctx, old, w); return err })
	return done && err == nil, err
}
