package lease_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file are in virtual time.

// A start retries for two minutes while requests have no answer in time, whatever the
// text of the error. It ends with its context, even if the client goes on.
func TestStartOutlastsBusyStore(t *testing.T) {
	busy := func(words error) *hooked {
		return &hooked{before: func(ctx context.Context, _ call) error {
			if time.Now().Second() >= 20 { // the time begins at midnight
				return nil
			}
			<-ctx.Done()
			return cmp.Or(words, ctx.Err())
		}}
	}
	const second = time.Second
	for name, tt := range map[string]struct {
		s           *hooked
		ends        time.Duration // of the start's context
		err         error
		least, most time.Duration
		prepared    int // calls of Prepare; 0 is any number
	}{
		"in the context's words": {busy(nil), time.Hour, nil, 20 * second, 30 * second, 0},
		"in the network's":       {busy(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), time.Hour, nil, 20 * second, 30 * second, 0},
		"in somebody's own":      {busy(errors.New("canceling statement")), time.Hour, nil, 20 * second, 30 * second, 0},
		"for ever":               {&hooked{before: hanging}, time.Hour, context.DeadlineExceeded, 110 * second, 150 * second, 0},
		"its context ends":       {&hooked{before: hanging}, 7 * second, context.DeadlineExceeded, 7 * second, 10 * second, 0},
		"an outage":              {&hooked{before: failing(errUnavailable)}, time.Hour, errUnavailable, 0, 10 * second, 1},
		"no rights":              {&hooked{prepare: func(context.Context, int) error { return errUnavailable }}, time.Hour, errUnavailable, 0, 10 * second, 1},
		"locked, and late": {&hooked{prepare: func(ctx context.Context, number int) error {
			switch {
			case number < 3:
				return leasestore.Transient(errors.New("locked"))
			case number == 3:
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}, time.Hour, nil, 0, 30 * second, 4},
		"its context ends, and the client goes on": {&hooked{prepare: func(context.Context, int) error {
			time.Sleep(time.Minute)
			return nil
		}}, 5 * second, context.DeadlineExceeded, 5 * second, 7 * second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.ends)
				defer cancel()
				began := time.Now()
				h, err := holdertest.Try(ctx, t, lease.New(tt.s, quiet), 9, time.Now)
				took := time.Since(began)
				time.Sleep(time.Minute) // the client that goes on ends
				if !errors.Is(err, tt.err) || h.Last().Held != (tt.err == nil) || took < tt.least || took > tt.most || tt.prepared > 0 && tt.s.prepared() != tt.prepared {
					t.Errorf("granted %+v, %v after %v and %d preparations", h.Last(), err, took, tt.s.prepared())
				}
			})
		})
	}
}

// A store that takes long to answer is waited for, as far as the window allows.
func TestTimeoutFollowsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		h := hold(t, s, lease.Config{Expiry: 5 * time.Minute})
		s.calling(delaying(19 * time.Second)) // no bound of a request, which would end with the answer
		for range 20 {                        // windows
			time.Sleep(lease.DefaultWindow)
			if now := h.Last(); !now.Held || now.Number != 0 || now.Err != nil || !now.Until.After(time.Now()) {
				t.Fatalf("granted %+v at %v", now, time.Now())
			}
		}
		s.heal()
		time.Sleep(time.Hour)
		s.calling(hanging) // a request that hangs is given up soon, now that the store is quick again
		began := time.Now()
		time.Sleep(4 * time.Minute)
		if n := len(s.since(began)); n < 5 {
			t.Errorf("%d requests in four minutes", n)
		}
	})
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
		s := new(hooked)
		h := hold(t, s, lease.Config{Logger: slog.New(w)})
		free(t, s, 0)
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
