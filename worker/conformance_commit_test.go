package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
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
	until(pool, word, c, func() bool { return done.Swap(true) })
	return done.Load
}

// until has every such commit go as c does, until ended.
func until(pool *dbtest.Pool, word string, c commit, ended func() bool) {
	pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
		if tx.Wrote(word) && !ended() {
			return c(tx)
		}
		return tx.Tx.Commit()
	}})
}

// covered is a Leaser of which every grant is looked up in the table: no more is granted
// than is committed.
type covered struct {
	uid.Leaser
	t     *testing.T
	store *store
}

func (c covered) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	granted := r.Granted
	r.Granted = func(g lease.Grant) {
		if r, ok := c.store.row(c.t, g.Number); g.Held && (!ok || r.Reserved < g.Until.UnixMilli()) {
			c.t.Errorf("%v is granted, but the row is %+v, %t", g, r, ok)
		}
		granted(g)
	}
	return c.Leaser.Lease(ctx, r)
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
		if h := holding.Take(t, covered{s.on(db), t, s}, max22); h.Last().Number != 0 {
			t.Errorf("%v; want number 0", h.Last())
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
// reading back, and a Leaser at its first renewal. A Leaser that has waited long for the
// answer reads the row, and inserts again: that is lost too.
func TestAcquireDidNothing(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		var believed atomic.Bool
		until(pool, "INSERT", nothing, believed.Load)
		if s.name != "leaser" {
			if number, err := take(t, context.Background(), s.on(db), max22); number != 0 || !errors.Is(err, worker.ErrKey) {
				t.Errorf("%d, %v; want ErrKey", number, err)
			}
			wantNumbers(t, s)
			return
		}
		h := holding.Take(t, s.on(db, lease.Config{Expiry: 100 * time.Millisecond}, logTo(new(logged.Text).Logger())), max22)
		believed.Store(true)
		h.Await(t, "the loss is noticed", func(g lease.Grant) bool { return !g.Held && errors.Is(g.Err, lease.ErrRewound) })
		g := h.Await(t, "there is a number again", func(g lease.Grant) bool { return g.Held && len(s.numbers(t)) == 1 })
		wantNumbers(t, s, g.Number)
	})
}

// The same when a row that is there is taken over.
func TestTakeoverCommit(t *testing.T) {
	for name, c := range map[string]commit{"lost": lost, "refused": refused} {
		t.Run(name, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				floor := time.Now().Add(time.Minute)
				release(t, holding.Take(t, s.on(s.DB), 0), floor)
				db, pool := s.Pooled(t)
				happened := once(pool, "UPDATE", c)
				h, err := try(t, covered{s.on(db), t, s}, 0)
				switch {
				case !happened():
					t.Error("no commit was disturbed")
				case name == "lost" && (err != nil || h.Last().From.UnixMilli() != millis(floor)):
					t.Errorf("%v, %v; want it from %v", h.Last(), err, floor)
				case name == "refused":
					if r, _ := s.row(t, 0); !errors.Is(err, errAnswer) || len(h.History()) != 0 || r.Heartbeat != 0 || r.Reserved != millis(floor) {
						t.Errorf("granted %v, %v; row %+v; want nothing done", h.History(), err, r)
					}
				}
			})
		})
	}
}

// renewing returns a holder that renews every few milliseconds, and whose renewals are
// committed as c does it once the number is held.
func renewing(t *testing.T, s *store, c commit) (*holding.Holder, *dbtest.Pool) {
	t.Helper()
	db, pool := s.Pooled(t)
	h := holding.Take(t, covered{s.on(db, lease.Config{Expiry: 100 * time.Millisecond}, logTo(new(logged.Text).Logger())), t, s}, 0)
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
		h, pool := renewing(t, s, lost)
		until := h.Last().Until
		for range 3 {
			until = h.Await(t, "more is reserved", func(g lease.Grant) bool { return g.Until.After(until) }).Until
		}
		h.Kept(t)
		pool.Heal()
		h.Await(t, "all is well", func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
	})
}

// A holder whose writes fail keeps what it has and no more, says why, and goes on
// when they succeed.
func TestExtendRefused(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h, pool := renewing(t, s, refused)
		kept := h.Await(t, "the failure is told", func(g lease.Grant) bool { return errors.Is(g.Err, errAnswer) })
		told := len(h.History())
		servertest.Eventually(t, "it is told again", func() bool { return len(h.History()) > told+2 })
		if g := h.Last(); !g.Until.Equal(kept.Until) || !errors.Is(g.Err, errAnswer) {
			t.Errorf("%v; want what there was, %v", g, kept)
		}
		pool.Heal()
		h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(kept.Until) && g.Err == nil })
		h.Kept(t)
	})
}

// A write whose answer is lost may be done much later: after the row has been read
// and found unchanged, and while the next write is waiting for it.
func TestExtendCommitsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Impatient(t).Pooled(t)
		h := holding.Take(t, s.on(db, lease.Config{Expiry: 100 * time.Millisecond}, logTo(new(logged.Text).Logger())), 0)
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
		before := h.Last().Until
		h.Await(t, "an answer is lost", func(g lease.Grant) bool { return g.Err != nil })
		close(late)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		pool.Heal()
		h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(before) && g.Err == nil })
		h.Kept(t)
		release(t, h, time.Now())
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
				h := holding.Take(t, s.on(db), 0)
				happened := once(pool, "UPDATE", c)
				next := time.Now().Add(time.Minute)
				release(t, h, next)
				if r, _ := s.row(t, 0); !happened() || r.Heartbeat != 0 || r.Reserved != millis(next) {
					t.Errorf("row %+v; want it free and reserved until %d", r, millis(next))
				}
			})
		})
	}
}

// If a number cannot be given back, the error comes in time and wraps the
// driver's.
func TestReleaseUnavailable(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		h := holding.Take(t, s.on(db), 0)
		pool.Cut(errUnavailable)
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		err := h.Release(ctx, time.Now())
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errUnavailable) {
			t.Errorf("Release = %v; want the end of the context, and why: %v", err, errUnavailable)
		}
		if again := h.Release(context.Background(), time.Now()); !errors.Is(again, err) {
			t.Errorf("Release again = %v; want the same", again)
		}
	})
}
