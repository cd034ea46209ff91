package lease_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// The tests of this file are in virtual time.

// A holder that is not asked for more gives four signs of life per expiry, and each is a
// read and a write.
func TestRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s)
		began := time.Now()
		time.Sleep(10*time.Minute + time.Second)
		if n := len(s.since(began.Add(1))); n != 2*40 {
			t.Errorf("%d requests in ten minutes; want 80", n)
		}
	})
}

// While the store fails, the retries set the pace, however many ids are drawn. The log
// has a line when the outage begins and when it ends, and each grant has the error.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged.Text
		s := new(hooked)
		h := hold(t, s, lease.Config{Logger: log.Logger()})
		s.fail(errUnavailable)
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
		if all, warned, well := log.Count(""), log.Count("WARN", "is not renewed; ids end when", "number=0", "reserved_until=2000-01-01T", "store=memory", errUnavailable.Error()),
			log.Count("INFO", "renewed again"); all != 2 || warned != 1 || well != 1 {
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
		s.fail(errUnavailable)
		time.Sleep(5 * time.Minute)
		calls := s.since(began)
		for i := range calls[1:] {
			if d := calls[i+1].at.Sub(calls[i].at); d > 1500*time.Millisecond { // a second, and half of that at random
				t.Fatalf("%v between two requests; want a second", d)
			}
		}
		s.heal()
	})
}

// A number that is lost is not granted while the holder asks for another, and the log and
// the grant say why.
func TestLossInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged.Text
		s := new(hooked)
		h := hold(t, s, lease.Config{Logger: log.Logger()})
		if err := lease.New(s, quiet).Free(t.Context(), 0, true); err != nil {
			t.Fatal(err)
		}
		s.failOf("Look", errUnavailable)
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
			log.Count("another number is taken", "number=1") != 1 || log.Count("renewed again") != 1 {
			t.Errorf("log: %s", &log)
		}
	})
}

// A write that was done though it had no answer costs no error, each time anew.
func TestAnswerLostOnceARound(t *testing.T) {
	for name, lost := range map[string]error{"an error": errReset, "a collision": lease.Transient(errReset)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				h := hold(t, s)
				time.Sleep(7 * time.Second) // between two renewals
				for range 3 {
					answered := false
					s.change(func() {
						s.after = func(c call, done bool, err error) (bool, error) {
							if answered {
								return done, err
							}
							answered = true
							return false, lost
						}
					})
					time.Sleep(15 * time.Second)
				}
				for _, g := range h.History() {
					if g.Err != nil || !g.Held {
						t.Errorf("granted %+v", g)
					}
				}
				// A store that answers no write is not asked without a pause.
				s.change(func() { s.after = func(call, bool, error) (bool, error) { return false, lost } })
				began := time.Now()
				time.Sleep(time.Minute)
				if n := len(s.since(began)); n > 200 {
					t.Errorf("%d requests in a minute", n)
				}
				s.heal()
			})
		})
	}
}

// A store that did not write is asked again by a start.
func TestStartAgainstStoreThatDoesNotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, refused := new(hooked), 0
		s.after = func(c call, done bool, err error) (bool, error) { return done, err }
		s.before = func(_ context.Context, c call) error {
			if c.writes() && refused < 3 {
				refused++
				return lease.Transient(errors.New("deadlock"))
			}
			return nil
		}
		if h := hold(t, s); !h.Last().Held || refused != 3 {
			t.Errorf("granted %+v after %d refusals", h.Last(), refused)
		}
		idle := &idle{refuses: 3}
		if h := hold(t, idle); !h.Last().Held || idle.refuses != 0 {
			t.Errorf("granted %+v, and %d refusals are left", h.Last(), idle.refuses)
		}
	})
}

// idle is a store that reports of some inserts that it did not make the row.
type idle struct {
	hooked
	refuses int
}

func (i *idle) Insert(ctx context.Context, w lease.Write) (bool, error) {
	if i.refuses > 0 {
		i.refuses--
		return false, nil
	}
	return i.hooked.Insert(ctx, w)
}

// Errors of a start name what was done and the store, and no store is called when the
// context has ended.
func TestStartErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		try := func(ctx context.Context, s *hooked) string {
			_, err := holding.Try(ctx, t, lease.New(s, quiet), 9, time.Now)
			if err == nil {
				t.Fatal("it started")
			}
			return err.Error()
		}
		s := new(hooked)
		s.fail(errUnavailable)
		if text := try(t.Context(), s); text != "lease: take a number from memory: connection refused" {
			t.Error(text)
		}
		s.prepare = func(context.Context, int) error { return errUnavailable }
		if text := try(t.Context(), s); text != "lease: prepare memory: connection refused" {
			t.Error(text)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		s.prepare = func(context.Context, int) error { return errors.New("no rights in memory") }
		if text := try(t.Context(), s); text != "no rights in memory" {
			t.Error(text)
		}
		s = new(hooked)
		if text := try(ended, s); text != "lease: take a number from memory: context canceled" || s.prepared()+len(s.calls) > 0 {
			t.Errorf("%s after %d calls", text, s.prepared()+len(s.calls))
		}
		s.fail(context.DeadlineExceeded)
		s.before = func(ctx context.Context, _ call) error { <-ctx.Done(); return ctx.Err() }
		if text := try(t.Context(), s); strings.Count(text, "context deadline exceeded") != 1 || !strings.Contains(text, "take a number from memory: no answer within 10s: ") {
			t.Error(text)
		}
		s.before = func(ctx context.Context, _ call) error { <-ctx.Done(); return errReset }
		if text := try(t.Context(), s); strings.Count(text, "context deadline exceeded") != 1 || !strings.Contains(text, errReset.Error()) {
			t.Error(text)
		}
	})
}

// A holder that is quick to count as dead gives up requests soon, and a store that takes
// long but answers is no outage.
func TestBoundOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s, lease.Config{Expiry: 2 * time.Second, Window: 10 * time.Minute})
		s.change(func() { s.before = func(ctx context.Context, _ call) error { <-ctx.Done(); return ctx.Err() } })
		time.Sleep(time.Millisecond)
		began := time.Now()
		time.Sleep(12 * time.Second)
		// Requests take 1, 2, 4 and 8 seconds.
		if calls := s.since(began); len(calls) < 4 || calls[1].at.Sub(calls[0].at) > 1700*time.Millisecond {
			t.Errorf("%d requests in twelve seconds", len(calls))
		}
		s.heal()
	})
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		h := hold(t, s)
		delay := func(d time.Duration) {
			s.change(func() {
				s.before = func(ctx context.Context, _ call) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(d):
						return nil
					}
				}
			})
		}
		delay(12 * time.Second)
		time.Sleep(5 * time.Minute)
		known := len(h.History())
		time.Sleep(10 * time.Minute)
		if fresh := h.History()[known:]; slices.ContainsFunc(fresh, func(g lease.Grant) bool { return g.Err != nil }) || len(fresh) < 10 {
			t.Errorf("granted %+v by a store that takes 12 s", fresh)
		}
		s.heal()
	})
}

// No request may take longer than half of the expiry, or a quarter of the window.
func TestGreatestBound(t *testing.T) {
	for _, config := range []lease.Config{{Expiry: time.Minute, Window: 10 * time.Minute}, {Expiry: 2 * time.Minute, Window: 2 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			s := new(hooked)
			hold(t, s, config)
			var longest time.Duration
			s.change(func() {
				s.before = func(ctx context.Context, _ call) error {
					end, _ := ctx.Deadline()
					longest = max(longest, time.Until(end))
					<-ctx.Done()
					return ctx.Err()
				}
			})
			time.Sleep(20 * time.Minute)
			if longest != 30*time.Second {
				t.Errorf("%+v: a request may take %v; want 30s", config, longest)
			}
			s.heal()
		})
	}
}
