package leasetest

import (
	"context"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// alwaysFree: safety does not depend on how the store judges liveness. Every number looks
// free, so that the adversary's holders take numbers from each other all the time.
func (s Suite) alwaysFree(t *testing.T, open Opener) {
	s.adversary(t, func(t *testing.T) lease.Store { return liar{open(t)} })
}

// liar is a store in which every number looks free.
type liar struct{ lease.Store }

func (l liar) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	view, err := l.Store.Look(ctx, within, expiry)
	if err != nil {
		return lease.View{}, err
	}
	rows, err := l.List(ctx, 0, expiry)
	for i := range rows {
		rows[i].State = lease.StateFree
	}
	return lease.NewView(view.Now, rows, map[int64]int64{within.From: view.Next}, within), err
}

func (l liar) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	row, now, err := l.Store.Read(ctx, number, expiry)
	if row != nil {
		row.State = lease.StateFree
	}
	return row, now, err
}
