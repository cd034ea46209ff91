package segmenttest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faulty has the writes of a Memory fail.
type faulty struct {
	*segmenttest.Memory
	fault atomic.Pointer[func(ctx context.Context, do func() error) error]
}

func (f *faulty) set(fault func(ctx context.Context, do func() error) error) { f.fault.Store(&fault) }

func (f *faulty) run(ctx context.Context, do func() error) error {
	if fault := f.fault.Load(); fault != nil {
		return (*fault)(ctx, do)
	}
	return do()
}

func (f *faulty) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	err = f.run(ctx, func() (err error) {
		first, count, err = f.Memory.Reserve(ctx, tag, n)
		return err
	})
	return first, count, err
}

func (f *faulty) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	err = f.run(ctx, func() (err error) {
		done, err = f.Memory.Return(ctx, tag, first, next)
		return err
	})
	return done && err == nil, err
}

var errLost = errors.New("connection lost")

func backend(*testing.T) segmenttest.Backend {
	m := new(segmenttest.Memory)
	return segmenttest.Backend{
		Store: func(*testing.T) segment.Store { return m },
		Faulty: func(*testing.T) (segment.Store, segmenttest.Faults) {
			f := &faulty{Memory: m}
			lose := func() { f.set(func(context.Context, func() error) error { return errLost }) }
			return f, segmenttest.Faults{
				LoseAnswer: func(then func()) {
					f.set(func(_ context.Context, do func() error) error { _ = do(); then(); return errLost })
				},
				LoseWrite: lose,
				Cut:       lose,
				Hang: func() {
					f.set(func(ctx context.Context, _ func() error) error { <-ctx.Done(); return ctx.Err() })
				},
				Heal: func() { f.fault.Store(nil) },
			}
		},
	}
}

func TestMemory(t *testing.T) { segmenttest.Suite{Open: backend}.Run(t) }
