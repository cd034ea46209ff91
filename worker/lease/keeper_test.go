package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The tests of this file are in virtual time.

// slow is a store with requests that take long, or forever.
type slow struct {
	*leasetest.Memory
	delay atomic.Int64                                      // of each request; negative is for ever
	fail  atomic.Pointer[func(context.Context, bool) error] // if set, called with each request, and whether it writes
	calls atomic.Int64
}

func newSlow() *slow { return &slow{Memory: new(leasetest.Memory)} }

func (s *slow) takes(d time.Duration) { s.delay.Store(int64(d)) }

func (s *slow) fails(f func(ctx context.Context, write bool) error) { s.fail.Store(&f) }

func (s *slow) wait(ctx context.Context, write bool) error {
	s.calls.Add(1)
	if f := s.fail.Load(); f != nil {
		if err := (*f)(ctx, write); err != nil {
			return err
		}
	}
	d := time.Duration(s.delay.Load())
	if d < 0 {
		d = 1000 * time.Hour
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(d, 1)): // 0 in several goroutines of a bubble crashes the race detector
		return nil
	}
}

func (s *slow) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	if err := s.wait(ctx, false); err != nil {
		return lease.View{}, err
	}
	return s.Memory.Look(ctx, within, expiry)
}

func (s *slow) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	if err := s.wait(ctx, false); err != nil {
		return nil, 0, err
	}
	return s.Memory.Read(ctx, number, expiry)
}

func (s *slow) Insert(ctx context.Context, w lease.Write) (bool, error) {
	if err := s.wait(ctx, true); err != nil {
		return false, err
	}
	return s.Memory.Insert(ctx, w)
}

func (s *slow) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	if err := s.wait(ctx, true); err != nil {
		return false, err
	}
	return s.Memory.Swap(ctx, old, w)
}

var quiet = lease.Config{Logger: slog.New(slog.DiscardHandler)}

// hold leases a number of s from 0 to 9.
func hold(t *testing.T, s lease.Store, opts ...lease.Config) *holding.Holder {
	t.Helper()
	return holding.Take(t, lease.New(s, holding.Merge(append([]lease.Config{quiet}, opts...)...)), 9)
}

// A start retries for half a minute while requests have no answer in time,
// whatever the text of the error.
func TestStartOutlastsBusyStore(t *testing.T) {
	for name, words := range map[string]error{
		"the context's":  nil,
		"the network's":  &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		"somebody's own": errors.New("canceling statement due to user request"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, began := newSlow(), time.Now()
				s.fails(func(ctx context.Context, _ bool) error {
					if time.Since(began) > 20*time.Second {
						return nil
					}
					<-ctx.Done()
					if words != nil {
						return words
					}
					return ctx.Err()
				})
				h := hold(t, s)
				if !h.Last().Held || time.Since(began) < 20*time.Second {
					t.Errorf("granted %+v after %v", h.Last(), time.Since(began))
				}
			})
		})
	}
	t.Run("while it prepares", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &unready{slow: newSlow()}
			if h := hold(t, s); !h.Last().Held || s.prepared != 4 {
				t.Errorf("granted %+v after %d preparations", h.Last(), s.prepared)
			}
			s = &unready{slow: newSlow(), err: errors.New("no rights")}
			_, err := holding.Try(context.Background(), t, lease.New(s, quiet), 9, time.Now)
			if !errors.Is(err, s.err) || s.prepared != 1 {
				t.Errorf("%v after %d preparations", err, s.prepared)
			}
		})
	})
	t.Run("for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, began := newSlow(), time.Now()
			s.takes(-1)
			_, err := holding.Try(context.Background(), t, lease.New(s, quiet), 9, time.Now)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took < 20*time.Second || took > time.Minute {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
	t.Run("its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, began := newSlow(), time.Now()
			s.takes(-1)
			ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
			defer cancel()
			_, err := holding.Try(ctx, t, lease.New(s, quiet), 9, time.Now)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 10*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
	t.Run("an error of another kind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, began, unavailable := newSlow(), time.Now(), errors.New("no such host")
			s.fails(func(context.Context, bool) error { return unavailable })
			_, err := holding.Try(context.Background(), t, lease.New(s, quiet), 9, time.Now)
			if took := time.Since(began); !errors.Is(err, unavailable) || took > 10*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	})
}

// liar is a store that does what it is asked, and reports that writes fail.
type liar struct {
	*leasetest.Memory
	lies   atomic.Bool
	writes atomic.Int64
}

func (l *liar) report(done bool, err error) (bool, error) {
	if l.writes.Add(1); l.lies.Load() && l.writes.Load() < 1000 {
		return false, errors.New("connection reset")
	}
	return done, err
}

func (l *liar) Insert(ctx context.Context, w lease.Write) (bool, error) {
	return l.report(l.Memory.Insert(ctx, w))
}

func (l *liar) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	return l.report(l.Memory.Swap(ctx, old, w))
}

// A number is kept though no write has an answer, at the pace of the retries.
func TestWritesWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &liar{Memory: new(leasetest.Memory)}
		h := hold(t, s)
		first := h.Last()
		s.lies.Store(true)
		time.Sleep(10 * time.Minute)
		if now := h.Last(); !now.Held || now.Number != first.Number || now.Until.Sub(first.Until) < 9*time.Minute {
			t.Errorf("granted %+v after ten minutes, and %+v before", now, first)
		}
		if n := s.writes.Load(); n > 500 {
			t.Errorf("%d writes in ten minutes", n)
		}
		s.lies.Store(false)
	})
}

// A store that takes long to answer is waited for, as far as the window allows.
func TestBoundFollowsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow()
		h := hold(t, s, lease.Config{Expiry: 5 * time.Minute})
		s.takes(20 * time.Second)
		for range 20 { // windows
			time.Sleep(lease.DefaultWindow)
			if now := h.Last(); !now.Held || now.Number != 0 || !now.Until.After(time.Now()) {
				t.Fatalf("granted %+v at %v", now, time.Now())
			}
		}
		s.takes(0)
		time.Sleep(time.Hour)
		s.takes(-1) // a request that hangs is given up soon, now that the store is quick again
		calls := s.calls.Load()
		time.Sleep(4 * time.Minute)
		if n := s.calls.Load() - calls; n < 5 {
			t.Errorf("%d requests in four minutes", n)
		}
		s.takes(0)
	})
}

// unready is a store that is busy, and does not answer, before it is ready; or that
// cannot be made ready.
type unready struct {
	*slow
	prepared int
	err      error
}

func (u *unready) Check() error { return nil }

func (u *unready) Prepare(ctx context.Context, _ *slog.Logger) error {
	switch u.prepared++; {
	case u.err != nil:
		return u.err
	case u.prepared < 3:
		return lease.Transient(errors.New("locked"))
	case u.prepared == 3:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// waiter is a log handler that waits before it handles.
type waiter struct {
	slog.Handler
	handled chan struct{}
	may     chan struct{}
}

func (w *waiter) Enabled(context.Context, slog.Level) bool { return true }

func (w *waiter) Handle(context.Context, slog.Record) error {
	<-w.may
	time.Sleep(time.Second)
	w.handled <- struct{}{}
	return nil
}

// A handler of the log that waits for an id does not wait for ever: what is to be
// granted does not wait for the handler.
func TestLogHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiter{handled: make(chan struct{}, 100), may: make(chan struct{})}
		s := newSlow()
		h := hold(t, s, lease.Config{Logger: slog.New(w)})
		if err := lease.New(s, lease.Config{}).Free(context.Background(), 0, true); err != nil {
			t.Fatal(err)
		}
		taker := hold(t, s, lease.Config{Assigner: number{n: 0}})
		time.Sleep(time.Minute)
		if now := h.Last(); !now.Held || now.Number == 0 || taker.Last().Number != 0 {
			t.Errorf("granted %+v while a handler waits", now)
		}
		close(w.may)
		if err := h.Release(context.Background(), time.Now()); err != nil {
			t.Error(err)
		}
		if n := len(w.handled); n != 2 {
			t.Errorf("%d lines, want 2: the loss, and the number taken", n)
		}
	})
}
