package lease_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file are in virtual time.

// An idle holder renews four times per expiry, with one write each. So it does after its clock, or the
// store's, has stepped and returned.
func TestRenewals(t *testing.T) {
	for _, steps := range [][]time.Duration{nil, {time.Hour, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s := new(hooked)
			hold(t, s)
			for _, ahead := range steps {
				s.ahead.Store(ahead.Milliseconds())
				time.Sleep(40 * time.Second)
			}
			began := time.Now()
			time.Sleep(10*time.Minute + time.Second)
			if n := len(s.since(began.Add(1))); n != 40 {
				t.Errorf("%d requests in ten minutes; want 40", n)
			}
		})
	}
}

// While the store fails, the retries set the pace, however many ids are drawn. The log
// has a line when the outage begins and when it ends, and each grant has the error.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged.Text
		s := new(hooked)
		h := hold(t, s, lease.Config{Logger: log.Logger()})
		s.calling(failing(errUnavailable))
		began := time.Now()
		for range 5 * 60 * 100 {
			time.Sleep(10 * time.Millisecond)
			beyond := h.Last().Until.Add(time.Second)
			h.Use(beyond, beyond)
		}
		if n := len(s.since(began)); n < 60 || n > 120 {
			t.Errorf("%d requests in five minutes without an answer; want one each 5 s, and the first at once", n)
		}
		for _, g := range h.History()[1:] {
			if !g.Held || !errors.Is(g.Err, errUnavailable) || !strings.Contains(g.Err.Error(), "lease: renew a number in memory: ") {
				t.Fatalf("granted %+v", g)
			}
		}
		s.heal()
		time.Sleep(30 * time.Second)
		if g := h.Last(); g.Err != nil || !g.Until.After(time.Now().Add(lease.DefaultWindow/2)) {
			t.Errorf("granted %+v when the store is back", g)
		}
		if all, warned, well := log.Count(""), log.Count("WARN", "cannot renew the number; ids run out when", "number=0", "reserved_until=2000-01-01T", "store=memory", errUnavailable.Error()),
			log.Count("INFO", "renewing the number again"); all != 2 || warned != 1 || well != 1 {
			t.Errorf("log: %s", &log)
		}
	})
}

// With a short expiry, the retries come as often as the renewals, not more rarely.
func TestRetriesOfShortExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s, lease.Config{Expiry: 4 * time.Second})
		began := time.Now()
		s.calling(failing(errUnavailable))
		time.Sleep(5 * time.Minute)
		calls := s.since(began)
		for i := range calls[1:] {
			if d := calls[i+1].at.Sub(calls[i].at); d > 1500*time.Millisecond { // a second, and half of that at random
				t.Fatalf("%v between two requests; want a second", d)
			}
		}
	})
}

// A number that is lost is not granted while the holder asks for another, and the log and
// the grant say why.
func TestLossInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged.Text
		s := new(hooked)
		h := hold(t, s, lease.Config{Logger: log.Logger()})
		free(t, s, 0)
		s.calling(failing(errUnavailable, "Look"))
		time.Sleep(time.Minute)
		history := h.History()
		if g := history[1]; g.Held || !errors.Is(g.Err, lease.ErrLost) {
			t.Errorf("granted %+v first; want the loss", g)
		}
		if g := h.Last(); g.Held || !errors.Is(g.Err, errUnavailable) {
			t.Errorf("granted %+v; want what the store says", g)
		}
		s.heal()
		time.Sleep(30 * time.Second)
		if g := h.Last(); !g.Held || g.Err != nil {
			t.Errorf("granted %+v when the store is back", g)
		}
		if log.Count("") != 4 || log.Count("WARN", "is lost; taking another", lease.ErrLost.Error()) != 1 || log.Count("WARN", "no number is held; no ids are made") != 1 || log.Count("no number is held", "number=") != 0 ||
			log.Count("took another number", "number=1") != 1 || log.Count("renewing the number again") != 1 {
			t.Errorf("log: %s", &log)
		}
	})
}

// A write that was done though it had no answer costs no error, each time anew. If no
// write has an answer, the number is kept all the same, at the pace of the retries.
func TestAnswerLostOnceARound(t *testing.T) {
	for name, lost := range map[string]error{"an error": errReset, "a collision": leasestore.Transient(errReset)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				h := hold(t, s)
				time.Sleep(7 * time.Second) // between two renewals
				for range 3 {
					answered := false
					s.answering(func(c call, done bool, err error) (bool, error) {
						if answered {
							return done, err
						}
						answered = true
						return false, lost
					})
					time.Sleep(15 * time.Second)
				}
				for _, g := range h.History() {
					if g.Err != nil || !g.Held {
						t.Errorf("granted %+v", g)
					}
				}
				first, began, n := h.Last(), time.Now(), 0
				s.answering(func(_ call, done bool, err error) (bool, error) {
					if n++; n > 1000 { // it is asked without a pause
						return done, err
					}
					return false, lost
				})
				time.Sleep(10 * time.Minute)
				if now := h.Last(); !now.Held || now.Number != first.Number || now.Until.Sub(first.Until) < 9*time.Minute {
					t.Errorf("granted %+v after ten minutes, and %+v before", now, first)
				}
				if calls := len(s.since(began)); n > 500 || calls > 1500 {
					t.Errorf("%d writes, and %d requests, in ten minutes", n, calls)
				}
			})
		})
	}
}

// A store that did not write is asked again by a start.
func TestStartAgainstStoreThatDoesNotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		s := &hooked{before: func(_ context.Context, c call) error {
			if c.writes() && refused < 3 {
				refused++
				return leasestore.Transient(errors.New("deadlock"))
			}
			return nil
		}}
		if h := hold(t, s); !h.Last().Held || refused != 3 {
			t.Errorf("granted %+v after %d refusals", h.Last(), refused)
		}
		idle := &idle{refuses: 3}
		if h := hold(t, idle, lease.Config{Assigner: number{n: 0}}); !h.Last().Held || idle.refuses != 0 {
			t.Errorf("granted %+v, and %d refusals are left", h.Last(), idle.refuses)
		}
	})
}

// idle is a store that reports of some inserts that it did not make the row.
type idle struct {
	hooked
	refuses int
}

func (i *idle) Insert(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	if i.refuses > 0 {
		i.refuses--
		return 0, false, nil
	}
	return i.hooked.Insert(ctx, w)
}

// Errors of a start name what was done and the store, and no store is called when the
// context has ended.
func TestStartErrors(t *testing.T) {
	rights := errors.New("no rights in memory")
	named := calls.Error(t.Context(), "stored", "look for rights in memory", errUnavailable)
	late := func(ctx context.Context, _ call) error { <-ctx.Done(); return errReset }
	for _, tt := range []struct {
		s     *hooked
		ended bool // the start's context
		want  string
	}{
		{&hooked{before: failing(errUnavailable)}, false, "lease: take a number from memory: connection refused"},
		{&hooked{before: failing(errUnavailable, "SwapLayout")}, false, "lease: compare the layout with that of memory: connection refused"},
		{&hooked{before: failing(errUnavailable, "Look")}, false, "lease: take a number from memory: connection refused"},
		{&hooked{prepare: func(context.Context, int) error { return errUnavailable }}, false, "lease: prepare memory: connection refused"},
		{&hooked{prepare: func(context.Context, int) error { return rights }}, false, "lease: prepare memory: no rights in memory"},
		{&hooked{prepare: func(context.Context, int) error { return named }}, false, "stored: look for rights in memory: connection refused"},
		{new(hooked), true, "lease: take a number from memory: context canceled"},
		{&hooked{before: only("Look", hanging)}, false, "lease: take a number from memory: no answer within 10s: context deadline exceeded"},
		{&hooked{before: only("Look", late)}, false, "lease: take a number from memory: no answer within 10s: context deadline exceeded: connection reset"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if tt.ended {
				ctx = canceled(t)
			}
			_, err := holdertest.Try(ctx, t, lease.New(tt.s, quiet), 9, time.Now)
			if fmt.Sprint(err) != tt.want {
				t.Errorf("%v; want %s", err, tt.want)
			}
			if n := tt.s.prepared() + len(tt.s.calls); tt.ended && n > 0 {
				t.Errorf("%d calls after the end of the context", n)
			}
		})
	}
}

// A holder that is quick to count as dead gives up requests soon.
func TestTimeoutOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s, lease.Config{Expiry: 2 * time.Second, Window: 10 * time.Minute})
		s.calling(hanging)
		time.Sleep(time.Millisecond)
		began := time.Now()
		time.Sleep(12 * time.Second)
		// Requests take 1, 2, 4 and 8 seconds.
		if calls := s.since(began); len(calls) < 4 || calls[1].at.Sub(calls[0].at) > 1700*time.Millisecond {
			t.Errorf("%d requests in twelve seconds", len(calls))
		}
	})
}

// No request may take longer than half of the expiry, or a quarter of the window.
func TestGreatestBound(t *testing.T) {
	for _, config := range []lease.Config{{Expiry: time.Minute, Window: 10 * time.Minute}, {Expiry: 2 * time.Minute, Window: 2 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			s := new(hooked)
			hold(t, s, config)
			var longest time.Duration
			s.calling(func(ctx context.Context, c call) error {
				end, _ := ctx.Deadline()
				longest = max(longest, time.Until(end))
				return hanging(ctx, c)
			})
			time.Sleep(20 * time.Minute)
			synctest.Wait()
			if longest != 30*time.Second {
				t.Errorf("%+v: a request may take %v; want 30s", config, longest)
			}
		})
	}
}

// A start ends with its context, whatever it waits for. If it waits for a holder, it says so. It
// tries for a second to give back what a write without an answer may have taken.
func TestStartEndsWithItsContext(t *testing.T) {
	at := func(op string, what func(context.Context, call) error) func(*hooked) {
		return func(s *hooked) { s.calling(only(op, what)) }
	}
	collides := failing(leasestore.Transient(errReset))
	for name, tt := range map[string]struct {
		set         func(*hooked)
		exact, held bool
		limit, more time.Duration // the context ends after limit, and the start more later
	}{
		"prepare": {set: func(s *hooked) {
			s.prepare = func(ctx context.Context, _ int) error { return hanging(ctx, call{}) }
		}},
		"the layout":               {set: at("SwapLayout", hanging)},
		"a look":                   {set: at("Look", hanging)},
		"collisions":               {set: at("Look", collides)},
		"the client's own limit":   {set: at("Look", failing(leasestore.Throttled(errReset))), limit: 5 * time.Minute},
		"a holder":                 {set: func(*hooked) {}, exact: true, held: true},
		"a holder, and a read":     {set: at("Read", hanging), exact: true, held: true},
		"a holder, and collisions": {set: at("Read", collides), exact: true, held: true},
		"a write without an answer": {set: func(s *hooked) {
			s.answering(func(call, bool, error) (bool, error) { s.calling(hanging); return false, errReset })
		}, exact: true, more: time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, config := new(hooked), quiet
			if tt.exact {
				config.Assigner = number{n: 0}
			}
			if tt.held {
				hold(t, s, config).Kill()
				time.AfterFunc(time.Second, func() { tt.set(s) })
			} else {
				tt.set(s)
			}
			limit := cmp.Or(tt.limit, 12*time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			_, err := lease.New(s, config).Lease(ctx, lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: holdertest.Layout})
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lease.ErrHeld) != tt.held || took != limit+tt.more {
				t.Errorf("%s: %v after %v", name, err, took)
			}
		})
	}
}
