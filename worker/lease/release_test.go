package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file are in virtual time.

// closing is a context as uid's Close uses it.
func closing(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Release ends with its context even if the store never answers, to a renewal or to the
// release.
func TestReleaseEndsInTime(t *testing.T) {
	for name, wait := range map[string]time.Duration{"while it is renewed": time.Minute, "at once": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				h := hold(t, s)
				locked := make(chan struct{})
				s.calling(func(context.Context, call) error { <-locked; return nil })
				time.Sleep(wait)
				known, began := len(h.History()), time.Now()
				err := h.Release(closing(t), time.Now())
				if took := time.Since(began); took > 5500*time.Millisecond {
					t.Errorf("Release took %v", took)
				}
				if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "lease: give a number back to memory: ") {
					t.Errorf("%v; want DeadlineExceeded, the operation and the store", err)
				}
				if again := h.Release(t.Context(), time.Now()); again != err {
					t.Errorf("%v, then %v of the second call", err, again)
				}
				if n := len(s.since(began)); n > 1 {
					t.Errorf("%d requests beside the one that hangs", n)
				}
				close(locked) // the store does what it was asked for, and nobody is told
				synctest.Wait()
				if n := len(h.History()); n > known {
					t.Errorf("granted %+v after Release", h.History()[known:])
				}
			})
		})
	}
}

// A Release during a renewal waits for its answer, and then gives the number back.
func TestReleaseDuringARenewal(t *testing.T) {
	for range 20 { // which of two goroutines is first is the scheduler's choice
		synctest.Test(t, func(t *testing.T) {
			s, renewed := new(hooked), make(chan struct{})
			h := hold(t, s)
			var once sync.Once
			s.answering(func(_ call, done bool, err error) (bool, error) {
				once.Do(func() {
					close(renewed)
					time.Sleep(50 * time.Millisecond) // less than the grace of a client
				})
				return done, err
			})
			<-renewed
			next := time.UnixMilli(time.Now().UnixMilli())
			if err := h.Release(closing(t), next); err != nil {
				t.Error(err)
			}
			if again := hold(t, s).Last(); again.Number != 0 || !again.From.Equal(next) {
				t.Errorf("granted %+v; want number 0 from %v", again, next)
			}
		})
	}
}

// Release tries again until its context ends, gives back up to exactly the instant that it
// is told, and grants nothing.
func TestReleaseTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		h := hold(t, s)
		s.calling(hanging)
		time.Sleep(16 * time.Second)
		known, began, next := len(h.History()), time.Now(), time.UnixMilli(time.Now().UnixMilli()+7)
		s.calling(func(context.Context, call) error {
			if time.Since(began) < time.Second {
				return errUnavailable
			}
			return nil
		})
		if err := h.Release(closing(t), next); err != nil {
			t.Errorf("%v; want that it tries again", err)
		}
		if fresh := h.History()[known:]; len(fresh) > 0 {
			t.Errorf("granted %+v by Release", fresh)
		}
		row, _, err := s.Read(t.Context(), 0, time.Minute)
		if err != nil || row == nil || row.State != leasestore.StateFree || row.Until != next.UnixMilli() {
			t.Errorf("%+v, %v; want the number free, and reserved until %d", row, err, next.UnixMilli())
		}
		calls := len(s.since(began))
		if err := h.Release(t.Context(), next.Add(time.Hour)); err != nil || len(s.since(began)) != calls {
			t.Errorf("%v, and a request of the second call", err)
		}
	})
}

// A holder of nothing has nothing to give back.
func TestReleaseOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		h := hold(t, s)
		free(t, s, 0)
		s.calling(failing(errUnavailable, "Look"))
		time.Sleep(time.Minute)
		began := time.Now()
		if err := h.Release(closing(t), time.Now()); err != nil || len(s.since(began)) > 0 {
			t.Errorf("%v after %d requests; want none", err, len(s.since(began)))
		}
	})
}

// Release waits neither for the store nor for the log beyond its context. The error has both
// causes.
func TestReleaseIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := new(hooked), &waiter{handled: make(chan struct{}, 100), may: make(chan struct{})}
		h := hold(t, s, lease.Config{Logger: slog.New(w)})
		s.calling(failing(errUnavailable))
		time.Sleep(16 * time.Second) // a line says that the number is not renewed
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if err := h.Release(ctx, time.Now()); !errors.Is(err, errUnavailable) || !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		close(w.may)
		time.Sleep(time.Minute) // the handler returns
	})
}
