package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// The tests of this file do between two statements of a start what the model found.

// before calls f once, before the first statement that has all the given words.
func before(pool *dbtest.Pool, f func(), words ...string) {
	once := sync.OnceFunc(f)
	pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
		for _, word := range words {
			if !strings.Contains(query, word) {
				return nil
			}
		}
		once()
		return nil
	}})
}

// A first start is stopped before it makes the record. Another start makes one and takes a number, and that record is lost.
// The first start makes none beside the lease.
func TestFirstStartIsLate(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for _, kind := range []string{aRegistry, aLeaser, aRange} {
			s := s.another(t)
			db, pool := s.Pooled(t)
			before(pool, func() {
				assign(t, s.leaser(s.DB, quiet))
				s.Exec(t, "DELETE FROM %s WHERE id = -1", s.prefix+"WORKER_NODE")
			}, "INSERT", "SELECT -1")
			if err := s.begin(t, kind, db, bits.LongLived()); !errors.Is(err, worker.ErrMixed) || !strings.Contains(err.Error(), "is gone") {
				t.Errorf("%s: %v, want that the record is gone", kind, err)
			}
		}
	})
}

// WORKER_NODE is truncated while a Leaser has drawn a key and not yet leased it. A Registry draws the key again.
func TestTruncatedBetween(t *testing.T) {
	on(t, []string{"sqlite", "mysql"}, leasers, func(t *testing.T, s *store) {
		assign(t, s.leaser(s.DB, quiet))
		record, node := s.recordRow(t), s.as(registry)
		db, pool := s.Pooled(t)
		drawn := int64(0)
		before(pool, func() {
			node.Exec(t, "DELETE FROM %s WHERE 1 = 1", node.Table)
			node.setNext(t, 2)
			s.writeRecord(t, record)
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
			record, node := s.recordRow(t), s.prefix+"WORKER_NODE"
			db, pool := s.Pooled(t)
			at, drawn := 0, int64(-1)
			pool.Set(dbtest.Faults{Statement: func(context.Context, string) error {
				if at++; at == point {
					s.Exec(t, "DELETE FROM %s WHERE id = -1", node)
					if n, err := s.registry(s.DB).Assign(t.Context(), max22); err == nil {
						drawn = n
					}
					s.writeRecord(t, record)
				}
				return nil
			}})
			number, err := take(t, t.Context(), s.leaser(db, quiet, lease.Config{Numbers: &lease.Range{From: 1, To: 1}}), max22)
			beyond := at < point
			pool.Heal()
			if err == nil && number == drawn {
				t.Errorf("at statement %d, number %d is given to a range and drawn by a Registry", point, number)
			}
			if beyond {
				return
			}
		}
	})
}
