package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/dbtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// The tests of this file have commits that do not say what they did.

// errAnswer is what there is in place of a commit's answer.
var errAnswer = errors.New("the connection is lost")

// A commit does what it says, or something else.
type commit func(tx *dbtest.Tx) error

func lost(tx *dbtest.Tx) error    { return errors.Join(tx.Tx.Commit(), errAnswer) }
func refused(tx *dbtest.Tx) error { return errors.Join(tx.Tx.Rollback(), errAnswer) }
func nothing(tx *dbtest.Tx) error { return tx.Tx.Rollback() }

// once has the first commit of a transaction that sent a statement of the kind
// word go as c does, and tells whether there was one.
func once(pool *dbtest.Pool, word string, c commit) (happened func() bool) {
	var done atomic.Bool
	pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
		if tx.Wrote(word) && done.CompareAndSwap(false, true) {
			return c(tx)
		}
		return tx.Tx.Commit()
	}})
	return done.Load
}

// covered has every grant looked up in the table: no more is granted than is
// committed.
func (s *store) covered(t *testing.T, h *holding) {
	h.heard = func(g grant) {
		if r, ok := s.row(t, g.number); g.number >= 0 && (!ok || r.Reserved < g.until.UnixMilli()) {
			t.Errorf("%v is granted, but the row is %+v, %t", g, r, ok)
		}
	}
}

// A commit whose answer was lost leaves a Registry's row, and its number to
// nobody. A Leaser finds out that the number is its own.
func TestAcquireAnswerLost(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		happened := once(pool, "INSERT", lost)
		if s.name != "leaser" {
			if number, err := take(t, context.Background(), s.on(db), max22); number != 0 || !errors.Is(err, errAnswer) {
				t.Errorf("%d, %v; want %v", number, err, errAnswer)
			}
			wantNumbers(t, s, s.first)
			if got := assign(t, s.on(s.DB)); got != s.first+1 {
				t.Errorf("number %d, want %d", got, s.first+1)
			}
			return
		}
		h := new(holding)
		s.covered(t, h)
		if err := h.lease(t, context.Background(), s.on(db), max22); err != nil || h.now().number != 0 {
			t.Errorf("%v, %v; want number 0", h.now(), err)
		}
		if !happened() {
			t.Error("no commit was disturbed")
		}
		wantNumbers(t, s, 0)
	})
}

// A commit that failed is no number.
func TestAcquireRefused(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		once(pool, "INSERT", refused)
		if number, err := take(t, context.Background(), s.on(db), max22); number != 0 || !errors.Is(err, errAnswer) {
			t.Errorf("%d, %v; want %v", number, err, errAnswer)
		}
		wantNumbers(t, s)
		wantNumbers(t, s, assign(t, s.on(db)))
	})
}

// A server may confirm a commit and lose it. A Registry notices at once, by
// reading back, and a Leaser at its first beat.
func TestAcquireDidNothing(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		once(pool, "INSERT", nothing)
		if s.name != "leaser" {
			if number, err := take(t, context.Background(), s.on(db), max22); number != 0 || !errors.Is(err, worker.ErrKey) {
				t.Errorf("%d, %v; want ErrKey", number, err)
			}
			wantNumbers(t, s)
			return
		}
		h := mustLease(t, s.on(db, lease.WithExpiry(100*time.Millisecond), logTo(new(lines).logger())), max22)
		h.await(t, "the loss is noticed", func(g grant) bool { return g.number == -1 && errors.Is(g.err, lease.ErrRewound) })
		g := h.await(t, "there is a number again", func(g grant) bool { return g.number >= 0 && len(s.numbers(t)) == 1 })
		wantNumbers(t, s, g.number)
	})
}

// The same when a row that is there is taken over.
func TestTakeoverCommit(t *testing.T) {
	for name, c := range map[string]commit{"lost": lost, "refused": refused} {
		t.Run(name, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				floor := time.Now().Add(time.Minute)
				mustLease(t, s.on(s.DB), 0).release(t, floor)
				db, pool := s.Pooled(t)
				happened := once(pool, "UPDATE", c)
				h := new(holding)
				s.covered(t, h)
				err := h.lease(t, context.Background(), s.on(db), 0)
				switch {
				case !happened():
					t.Error("no commit was disturbed")
				case name == "lost" && (err != nil || h.now().from.UnixMilli() != millis(floor)):
					t.Errorf("%v, %v; want it from %v", h.now(), err, floor)
				case name == "refused":
					if r, _ := s.row(t, 0); !errors.Is(err, errAnswer) || len(h.history()) != 0 || r.Heartbeat != 0 || r.Reserved != millis(floor) {
						t.Errorf("granted %v, %v; row %+v; want nothing done", h.history(), err, r)
					}
				}
			})
		})
	}
}

// beats returns a holder that beats every few milliseconds, and whose beats are
// committed as c does it once the number is held.
func beats(t *testing.T, s *store, c commit) (*holding, *dbtest.Pool) {
	t.Helper()
	db, pool := s.Pooled(t)
	h := new(holding)
	s.covered(t, h)
	if err := h.lease(t, context.Background(), s.on(db, lease.WithExpiry(100*time.Millisecond), logTo(new(lines).logger())), 0); err != nil {
		t.Fatal(err)
	}
	pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
		if tx.Wrote("UPDATE") {
			return c(tx)
		}
		return tx.Tx.Commit()
	}})
	return h, pool
}

// A holder whose writes are done and never answered keeps its number, and finds
// out how far it has reserved.
func TestExtendAnswersLost(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h, pool := beats(t, s, lost)
		until := h.now().until
		for range 3 {
			until = h.await(t, "more is reserved", func(g grant) bool { return g.until.After(until) }).until
		}
		wantKept(t, h)
		pool.Heal()
		h.await(t, "all is well", func(g grant) bool { return g.until.After(until) && g.err == nil })
	})
}

// wantKept checks that a number was never lost.
func wantKept(t *testing.T, h *holding) {
	t.Helper()
	for _, g := range h.history() {
		if g.number != h.history()[0].number {
			t.Errorf("%v is granted", g)
		}
	}
}

// A holder whose writes fail keeps what it has and no more, says why, and goes on
// when they succeed.
func TestExtendRefused(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h, pool := beats(t, s, refused)
		kept := h.await(t, "the failure is told", func(g grant) bool { return errors.Is(g.err, errAnswer) })
		told := len(h.history())
		eventually(t, "it is told again", func() bool { return len(h.history()) > told+2 })
		if g := h.now(); !g.until.Equal(kept.until) || !errors.Is(g.err, errAnswer) {
			t.Errorf("%v; want what there was, %v", g, kept)
		}
		pool.Heal()
		h.await(t, "it is renewed", func(g grant) bool { return g.until.After(kept.until) && g.err == nil })
		wantKept(t, h)
	})
}

// A write whose answer is lost may be done much later: after the row has been read
// and found unchanged, and while the next write is waiting for it.
func TestExtendCommitsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Impatient(t).Pooled(t)
		h := mustLease(t, s.on(db, lease.WithExpiry(100*time.Millisecond), logTo(new(lines).logger())), 0)
		late, done := make(chan struct{}), make(chan error, 1)
		var first atomic.Bool
		pool.Set(dbtest.Faults{Outlives: true, Commit: func(tx *dbtest.Tx) error {
			if !tx.Wrote("UPDATE") || !first.CompareAndSwap(false, true) {
				return tx.Tx.Commit()
			}
			go func() {
				<-late
				done <- tx.Tx.Commit()
			}()
			return errAnswer
		}})
		before := h.now().until
		h.await(t, "an answer is lost", func(g grant) bool { return g.err != nil })
		close(late)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		pool.Heal()
		h.await(t, "it is renewed", func(g grant) bool { return g.until.After(before) && g.err == nil })
		wantKept(t, h)
		h.release(t, time.Now())
		if r, _ := s.row(t, 0); r.Heartbeat != 0 {
			t.Errorf("row %+v; want it free", r)
		}
	})
}

// What is given back is given back, whatever the commit says about it.
func TestReleaseCommit(t *testing.T) {
	for name, c := range map[string]commit{"lost": lost, "refused": refused} {
		t.Run(name, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				db, pool := s.Pooled(t)
				h := mustLease(t, s.on(db), 0)
				happened := once(pool, "UPDATE", c)
				next := time.Now().Add(time.Minute)
				h.release(t, next)
				if r, _ := s.row(t, 0); !happened() || r.Heartbeat != 0 || r.Reserved != millis(next) {
					t.Errorf("row %+v; want it free and reserved until %d", r, millis(next))
				}
			})
		})
	}
}

// If a number cannot be given back, the error comes in time and wraps the
// driver's.
func TestReleaseAway(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		h := mustLease(t, s.on(db), 0)
		pool.Cut(errAway)
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		err := h.Release(ctx, time.Now())
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) {
			t.Errorf("Release = %v; want the end of the context, and why: %v", err, errAway)
		}
		if again := h.Release(context.Background(), time.Now()); !errors.Is(again, err) {
			t.Errorf("Release again = %v; want the same", again)
		}
	})
}
