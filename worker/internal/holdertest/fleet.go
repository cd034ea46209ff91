package holdertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// Together calls do with each number from 0 to n-1 at the same time, and waits for all.
func Together(n int, do func(i int)) {
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { do(i) })
	}
	running.Wait()
}

// Fleet is holders that start and stop together.
type Fleet struct {
	testing.TB
	Holders []*Holder
	Most    int64 // the greatest number that was ever held
}

// Start starts n holders at the same time, and returns how long the last took. It fails the test if
// one has no number, or the number of another.
func (f *Fleet) Start(ctx context.Context, n int, leaser func(i int) *lease.Leaser) time.Duration {
	f.Helper()
	began := time.Now()
	more := make([]*Holder, n)
	Together(n, func(i int) {
		var err error
		if more[i], err = Try(ctx, f, leaser(i), 1<<20, time.Now); err != nil {
			f.Errorf("start %d of %d, after %v: %v", i, n, time.Since(began), err)
		}
	})
	took := time.Since(began)
	if f.Failed() {
		f.FailNow()
	}
	f.Holders = append(f.Holders, more...)
	held := map[int64]bool{}
	for _, h := range f.Holders {
		g := h.Last()
		if held[g.Number] {
			f.Fatalf("number %d is held twice", g.Number)
		}
		held[g.Number], f.Most = true, max(f.Most, g.Number)
	}
	return took
}

// Stop stops the first n holders.
func (f *Fleet) Stop(n int) {
	f.Helper()
	Together(n, func(i int) {
		if err := f.Holders[i].Release(context.Background(), time.UnixMilli(time.Now().UnixMilli())); err != nil {
			f.Error(err)
		}
	})
	f.Holders = f.Holders[n:]
}
