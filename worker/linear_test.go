package worker_test

import (
	"context"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The store is linearizable, though commits are lost and refused.
func TestLinearizable(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		leasetest.Linearizable(t, func(t *testing.T) lease.Store {
			own := *s.Store
			own.DB = s.Open(t, s.URL)
			db, pool := own.Pooled(t)
			return &shaky{worker.NewStore(db, worker.StoreConfig{Table: s.Table}), pool}
		})
	})
}

// shaky is a store whose commits go wrong now and then. It is for one goroutine.
type shaky struct {
	*worker.Store
	pool *dbtest.Pool
}

func (s *shaky) shake() {
	faults := dbtest.Faults{}
	switch mathrand.IntN(12) {
	case 0:
		faults.Commit = lost
	case 1:
		faults.Commit = refused
	}
	s.pool.Set(faults)
}

func (s *shaky) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	s.pool.Set(dbtest.Faults{})
	return s.Store.Read(ctx, number, expiry)
}

func (s *shaky) Insert(ctx context.Context, w lease.Write) (bool, error) {
	s.shake()
	return s.Store.Insert(ctx, w)
}

func (s *shaky) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	s.shake()
	return s.Store.Swap(ctx, old, w)
}

// A starter that had read that a number was never given does not create it
// after it was given, even if its row is gone by now; and is by one who wants
// that very number.
func TestFreshInsert(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		rows := worker.NewStore(s.DB, worker.StoreConfig{Table: s.Table})
		ctx, within := context.Background(), lease.Bounds{From: 0, To: max22}
		insert := func(token string, fresh, want bool) {
			t.Helper()
			done, err := rows.Insert(ctx, lease.Write{Number: 0, Token: token, Until: 1, Change: lease.Acquire, Node: node, Within: within, Fresh: fresh})
			if done != want || err != nil {
				t.Errorf("%s: %t, %v; want %t", token, done, err, want)
			}
		}
		if view, err := rows.Look(ctx, within, time.Minute); err != nil || view.Next != 0 {
			t.Fatalf("%+v, %v; want 0 to be the next number", view, err)
		}
		insert("first", true, true)
		s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
		insert("second", true, false)
		wantNumbers(t, s)
		insert("third", false, true)
		wantNumbers(t, s, 0)
		insert("fourth", false, false)
		if r, _ := s.row(t, 0); r.Token != "third" {
			t.Errorf("row %+v", r)
		}
	})
}

// Holders of different ranges do not get in each other's way, and whoever takes
// numbers from all ranges starts above what they were given.
func TestRanges(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		take := func(want int64, opts ...option) {
			t.Helper()
			if h := holding.Take(t, s.leaser(s.DB, opts...), max22); h.Last().Number != want {
				t.Errorf("%v; want number %d", h.Last(), want)
			}
		}
		south := lease.Config{Numbers: &lease.Bounds{From: 100, To: 102}}
		take(100, south)
		take(0, lease.Config{Numbers: &lease.Bounds{From: 0, To: 99}})
		take(101, south)
		take(1, lease.Config{Numbers: &lease.Bounds{From: 0, To: 99}})
		s.Exec(t, "DELETE FROM %s WHERE worker_id >= 0", s.Table)
		take(102, south) // what was given is remembered
		take(2, lease.Config{Numbers: &lease.Bounds{From: 0, To: 99}})
		take(103)
		if h, err := try(t, s.leaser(s.DB, south), max22); err == nil {
			t.Errorf("%v; want no number left", h.Last())
		}
		if _, err := try(t, s.leaser(s.DB, lease.Config{Numbers: &lease.Bounds{From: 8, To: 9}}), 7); err == nil {
			t.Error("a range above the limit is accepted")
		}
	})
}
