package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The tests of this file do between two statements of a start what the model found.

// before returns a handle that calls f once, before the first statement that begins with a word and has all the others.
func (s *store) before(t *testing.T, f func(), words ...string) *gorm.DB {
	t.Helper()
	db, pool := s.Pooled(t)
	once := sync.OnceFunc(f)
	pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
		if strings.HasPrefix(query, words[0]) && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(query, word) }) {
			once()
		}
		return nil
	}})
	return db
}

// at calls f before the statement of a number, counted from now on, until beyond is called, which reports whether there
// were fewer statements.
func at(pool *dbtest.Pool, point int, f func()) (beyond func() bool) {
	sent := 0
	pool.Set(dbtest.Faults{Statement: func(context.Context, string) error {
		if sent++; sent == point {
			f()
		}
		return nil
	}})
	return func() bool { pool.Heal(); return sent < point }
}

// A first start is stopped before it makes the record. Another start makes one and takes a number, and that record is lost.
// The first start makes none beside the lease.
func TestFirstStartIsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for _, kind := range []string{aRegistry, aLeaser, aRange} {
			s := s.another(t)
			db := s.before(t, func() {
				assign(t, s.leaser(s.DB, quiet))
				s.Exec(t, "DELETE FROM %s WHERE id = -1", s.prefix+"WORKER_NODE")
			}, "INSERT", "SELECT -1")
			need.Error(t, s.begin(t, kind, db, bits.LongLived()), worker.ErrMixed, "is gone")
		}
	})
}

// A first start is stopped before it makes the record. Another makes one and has not committed its first lease, which a session
// of READ UNCOMMITTED sees all the same.
func TestLeaseIsNotCommitted(t *testing.T) {
	on(t, []string{"mysql"}, leasers, func(t *testing.T, s *store) {
		dirty := s.as(leaser)
		dirty.DB = s.Open(t, s.With(s.isolations(t)["READ UNCOMMITTED"]))
		uncommitted := s.DB.Begin()
		db := dirty.before(t, func() {
			assign(t, s.leaser(s.DB, quiet))
			s.Exec(t, "DELETE FROM %s WHERE 1 = 1", s.Table)
			need.Must(t, uncommitted.Exec("INSERT INTO "+s.Table+" (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) "+
				"VALUES (1, 'a', 0, 0, '-', '-', 0, 0)").Error)
		}, "INSERT", "SELECT -1")
		rows := s.leaser(db)
		need.Must(t, rows.Prepare(t.Context(), silent))
		text, err := rows.SwapLayout(t.Context(), "", leasestore.Terms{Layout: holdertest.Layout})
		if text == "" || err != nil {
			t.Errorf("%q, %v; want the layout of the other", text, err)
		}
		need.Must(t, uncommitted.Rollback().Error)
	})
}

// WORKER_NODE is truncated while a Leaser has drawn a key and not yet leased it. A Registry draws the key again.
func TestTruncatedBetween(t *testing.T) {
	on(t, []string{"sqlite", "mysql"}, leasers, func(t *testing.T, s *store) {
		assign(t, s.leaser(s.DB, quiet))
		node, drawn := s.as(registry), int64(0)
		db := s.before(t, func() {
			node.Exec(t, "DELETE FROM %s WHERE id > 0", node.Table)
			node.setNext(t, 2)
			drawn = assign(t, s.kind(aRegistry, s.DB))
		}, "INSERT INTO", "WORKER_LEASE", "SELECT id")
		if got := assign(t, s.leaser(db, quiet)); drawn != 2 || got == drawn {
			t.Errorf("a Registry drew %d, and a Leaser has %d", drawn, got)
		}
	})
}

// A range is stopped anywhere. The record is lost, a Registry that states no layout draws the range's number, and the
// record is restored: one of the two is refused, whichever comes first.
func TestRecordIsRestoredBetween(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for point := 1; ; point++ {
			s := s.another(t)
			need.Must(t, s.begin(t, aRange, s.DB, bits.Layout{}))
			s.Exec(t, "DELETE FROM %s WHERE worker_id >= -10", s.Table)
			db, pool := s.Pooled(t)
			node, drawn := s.prefix+"WORKER_NODE", int64(-1)
			beyond := at(pool, point, func() {
				s.Exec(t, "UPDATE %s SET id = -2 WHERE id = -1", node)
				if n, err := s.registry(s.DB).Assign(t.Context(), max22); err == nil {
					drawn = n
				}
				s.Exec(t, "UPDATE %s SET id = -1 WHERE id = -2", node)
			})
			number, err := take(t, t.Context(), s.leaser(db, quiet, lease.Config{Numbers: &lease.Range{From: 1, To: 1}}), max22)
			if err == nil && number == drawn {
				t.Errorf("at statement %d, number %d is given to a range and drawn by a Registry", point, number)
			}
			if beyond() {
				return
			}
		}
	})
}

// errAnswer is what there is in place of a commit's answer.
var errAnswer = errors.New("the connection is lost")

// A write whose answer is lost may be done much later: after the row has been read
// and found unchanged, and while the next write is waiting for it.
func TestExtendCommitsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Waiting(t, 100*time.Millisecond).Pooled(t)
		h := holdertest.Take(t, s.on(db, quickly, quiet), 1)
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
		need.Must(t, <-done)
		pool.Heal()
		h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(before) && g.Err == nil })
		h.Kept(t)
		release(t, h, time.Now())
		if row, _, err := s.leaser(s.DB).Read(t.Context(), 1, time.Minute); err != nil || row.State != lease.StateFree {
			t.Errorf("row %+v, %v; want it free", row, err)
		}
	})
}
