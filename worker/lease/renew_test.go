package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file are in virtual time.

// A start that fails gives back what it may have taken: a free number, though the answer was lost,
// and a new number that it inserted. It does so after its context has ended too. If the answer to
// the insert was lost, nobody knows which number is new, and it stays held until it expires.
func TestFailedStartGivesBack(t *testing.T) {
	for state, config := range map[leasestore.State]lease.Config{leasestore.StateFree: {Assigner: number{n: 0}}, leasestore.StateHeld: {}} {
		for _, before := range []bool{false, true} { // a holder that gave the number back
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				if before {
					need.Must(t, hold(t, s).Release(t.Context(), time.Now()))
					state = leasestore.StateFree
				}
				ctx, end := context.WithCancel(t.Context())
				s.answering(func(call, bool, error) (bool, error) { // a row is written, without an answer
					s.calling(func(context.Context, call) error {
						s.heal() // after the next reading
						end()
						return errReset
					})
					return false, errReset
				})
				if _, err := holdertest.Try(ctx, t, lease.New(s, holdertest.Merge(quiet, config)), 9, time.Now); !errors.Is(err, errReset) {
					t.Fatalf("%v; want that the connection was reset", err)
				}
				row, _, err := s.Memory.Read(t.Context(), 0, time.Minute)
				if err != nil || row == nil || row.State != state {
					t.Errorf("%+v, %v; want it %s", row, err, state)
				}
			})
		}
	}
}

// The first attempts after a failure come quickly, also after a failure that took
// long.
func TestRetriesQuicklyAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s)
		for range 2 {
			began := time.Now()
			s.calling(failing(errUnavailable))
			time.Sleep(2 * time.Minute)
			attempts := s.since(began)
			s.heal()
			time.Sleep(time.Minute)
			last := len(attempts) - 1
			if last < 20 || attempts[1].at.Sub(attempts[0].at) > 200*time.Millisecond || attempts[last].at.Sub(attempts[last-1].at) < time.Second {
				t.Errorf("attempts %+v; want them to begin quickly, and become rare", attempts)
			}
		}
	})
}

// A store without a clock: the holder's own decides which numbers have rested, and
// how far is reserved, and is not called wrong.
func TestStoreWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &hooked{clockless: true}
		ahead := func() time.Time { return time.Now().Add(5 * time.Hour) }
		h, err := holdertest.Try(context.Background(), t, lease.New(s, quiet), 9, ahead)
		need.Must(t, err)
		if until := h.Last().Until; !until.Equal(ahead().Add(lease.DefaultWindow)) {
			t.Errorf("reserved until %v; want %v", until, ahead().Add(lease.DefaultWindow))
		}
		time.Sleep(time.Hour)
		if now := h.Last(); now.Err != nil || !now.Until.After(ahead()) {
			t.Errorf("granted %+v", now)
		}
		if err := h.Release(context.Background(), ahead()); err != nil {
			t.Error(err)
		}
		if again := hold(t, s); again.Last().Number != 1 {
			t.Errorf("granted %+v; want number 1, as 0 has not rested", again.Last())
		}
	})
}

// A holder that borrows time reserves what its pace uses in two seconds, but never beyond
// what it says that it may need, unless the window reaches further.
func TestReservesAsFarAsNeeded(t *testing.T) {
	for _, most := range []time.Duration{90 * time.Minute, 1000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h, began := hold(t, new(hooked)), time.Now()
			var used time.Time
			for i := range 10 { // an hour of time in each second
				used = began.Add(time.Duration(i+1) * time.Hour)
				h.Use(used, used.Add(most))
				time.Sleep(time.Second)
			}
			until, furthest := h.Last().Until, used.Add(used.Sub(began))
			if most == 90*time.Minute && !until.Equal(used.Add(most)) {
				t.Errorf("reserved until %v; want %v", until, used.Add(most))
			}
			if most > 90*time.Minute && (until.Before(used.Add(30*time.Minute)) || until.After(furthest)) {
				t.Errorf("reserved until %v; want half an hour or more beyond %v, and %v at most", until, used, furthest)
			}
		})
	}
}

// A clock that steps ahead does not look like faster use: no more is reserved than the window.
func TestStepOfClockIsNoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step atomic.Int64
		clock := func() time.Time { return time.Now().Add(time.Duration(step.Load())) }
		h, err := holdertest.Try(t.Context(), t, lease.New(new(hooked), quiet), 9, clock)
		need.Must(t, err)
		time.Sleep(16 * time.Second)
		h.Use(clock(), clock().Add(time.Hour*1000))
		step.Store(int64(5 * time.Hour))
		h.Use(clock(), clock().Add(time.Hour*1000))
		time.Sleep(time.Second)
		if until, want := h.Last().Until, clock().Add(lease.DefaultWindow); until.After(want) || until.Before(want.Add(-5*time.Second)) {
			t.Errorf("reserved until %v; want %v", until, want)
		}
	})
}

// More is reserved at once when half of what is left is used, and not before, also ahead
// of the clock. A call that says less after one that said more changes nothing, and calls
// during a round need no round of their own.
func TestUseAsksAtHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		h, began := hold(t, s, lease.Config{Expiry: 10 * time.Minute}), time.Now()
		uses := func(requests int, durations ...time.Duration) {
			t.Helper()
			time.Sleep(time.Second)
			before := time.Now()
			for _, d := range durations {
				h.Use(began.Add(d), time.Time{})
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(10 * time.Second)
			if n := len(s.since(before)); n != requests {
				t.Errorf("%d requests when %v were used, want %d", n, durations, requests)
			}
		}
		uses(0, time.Minute, 4*time.Minute)
		h.Use(began.Add(6*time.Minute), time.Time{})
		h.Use(began, time.Time{})
		uses(0)
		if until := h.Last().Until; until.Before(began.Add(16 * time.Minute)) {
			t.Errorf("reserved until %v, want ten minutes beyond what was used", until)
		}
		uses(1, 6*time.Hour)
		uses(0, 6*time.Hour, 6*time.Hour+time.Minute, 6*time.Hour+4*time.Minute)
		s.calling(delaying(time.Second))
		uses(1, 6*time.Hour+6*time.Minute, 6*time.Hour+7*time.Minute, 6*time.Hour+8*time.Minute)
	})
}

// Each write has a new token, and all fields that the store needs.
func TestWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, node, stored := new(hooked), lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}, leasestore.Node{Host: "billing-7", Port: "8080", Type: 2}
		opts := []lease.Config{{Numbers: &lease.Range{From: 3, To: 20}, Node: node, Expiry: 30 * time.Second}}
		began := time.Now()
		first := hold(t, s, opts...)
		hold(t, s, append(opts, lease.Config{Assigner: number{n: 5}})...)
		time.Sleep(time.Minute)
		need.Must(t, first.Release(t.Context(), time.Now()))
		hold(t, s, opts...) // takes number 3 again: it has rested
		request := lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: holdertest.Layout}
		if held, err := lease.New(s, holdertest.Merge(append([]lease.Config{quiet}, opts...)...)).Lease(t.Context(), request); err != nil { // number 4
			t.Error(err)
		} else if err := held.Release(t.Context(), time.Now()); err != nil {
			t.Error(err)
		}
		tokens, acquired, ops := map[string]int{}, 0, map[string]bool{}
		var inserts []leasestore.Write
		for _, c := range s.since(began) {
			if ops[c.op] = true; !c.bounded && c.Change != leasestore.Release {
				t.Errorf("%+v: want a deadline", c)
			}
			if !c.writes() {
				continue
			}
			if c.Change == leasestore.Acquire {
				acquired++
			}
			tokens[c.Token]++
			if len(c.Token) < 20 || tokens[c.Token] > 1 {
				t.Errorf("%+v: want a token of its own", c)
			}
			if c.Expiry != 30*time.Second || (c.Change == leasestore.Acquire) != (c.Node == stored) {
				t.Errorf("%+v: want the expiry, and the node of a new holder", c)
			}
			if c.op == "Insert" {
				inserts = append(inserts, c.Write)
			} else if c.Within != (leasestore.Range{}) || c.Fresh {
				t.Errorf("%+v: want no range", c)
			}
		}
		if acquired != 4 || len(ops) != 5 || s.unbounded {
			t.Errorf("%d new holders, and requests %v; want 4, and all kinds, with deadlines", acquired, ops)
		}
		if len(inserts) != 3 || !inserts[0].Fresh || inserts[0].Within != (leasestore.Range{From: 3, To: 9}) ||
			inserts[1].Fresh || inserts[1].Within != (leasestore.Range{From: 5, To: 5}) {
			t.Errorf("inserted %+v; want a fresh number from 3 to 9, and the number 5", inserts)
		}
	})
}

// A holder uses no number outside its range, whatever the store made.
func TestMadeOutsideRange(t *testing.T) {
	for _, made := range []int64{2, 7} {
		s := &wrong{made: made}
		if h, err := try(t, s, lease.Config{Numbers: &lease.Range{From: 3, To: 6}}); err == nil || !strings.Contains(err.Error(), "want one from 3 to 6") {
			t.Errorf("granted %+v, %v", h.Last(), err)
		}
	}
}

// wrong is a store that makes the row of a number that nobody wants.
type wrong struct {
	hooked
	made int64
}

func (w *wrong) Insert(context.Context, leasestore.Write) (int64, bool, error) {
	return w.made, true, nil
}

// A holder logs once what overlaps its range, though it looks again after a loss.
func TestOverlapIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := new(hooked), new(logged.Text)
		s.view = func(v leasestore.View) leasestore.View { v.Others = []leasestore.Range{{From: 2, To: 5}}; return v }
		h := hold(t, s, lease.Config{Logger: out.Logger()})
		s.Delete(0)
		time.Sleep(time.Minute)
		if g := h.Last(); g.Number != 1 || out.Count("overlap", `other="2 to 5"`) != 1 {
			t.Errorf("granted %+v: %s", g, out)
		}
	})
}

// The start of an assigned number waits until a crashed holder expires, with one line in the
// log, and may stamp at once then. It does not wait for a holder that lives, nor longer than its
// context.
func TestHeldUntilExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := new(hooked), new(logged.Text)
		exact := lease.Config{Assigner: number{n: 7}, Logger: out.Logger()}
		dead := hold(t, s, exact, lease.Config{Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}})
		time.Sleep(50 * time.Second)
		began := time.Now()
		_, err := try(t, s, exact)
		if took := time.Since(began); !errors.Is(err, lease.ErrHeld) || took > 20*time.Second {
			t.Errorf("%v after %v, beside a holder that lives; want ErrHeld within an interval", err, took)
		}
		synctest.Wait() // the renewal has ended
		dead.Kill()
		out.Reset()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err = holdertest.Try(ctx, t, lease.New(s, exact), 9, time.Now)
		if want := `number 7, by host "billing-7", port "8080", last heartbeat`; !errors.Is(err, lease.ErrHeld) ||
			!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v; want ErrHeld, the end of the context, and %q in it", err, want)
		}
		g := hold(t, s, exact).Last()
		if took := time.Since(began); !g.Held || !g.From.Equal(dead.Last().Until) || g.From.After(time.Now()) || took > 75*time.Second {
			t.Errorf("granted %+v at %v, %v after the crash; want it from %v", g, time.Now(), took, dead.Last().Until)
		}
		if n := strings.Count(out.String(), "waiting until"); n != 2 {
			t.Errorf("%d lines, want one of each start that waited:\n%s", n, out)
		}
	})
}
