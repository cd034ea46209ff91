package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The store passes the suite of all stores: on tables of the server or, on SQLite, on a file for each test, since the
// writers of one file wait for one another, and not in turn. A start sends as many statements in a herd as alone.
func TestStore(t *testing.T) {
	need.Time(t)
	each(t, leasers, func(t *testing.T, s *store) {
		type counted struct {
			*store
			sent atomic.Int64
		}
		var stores sync.Map // by the name of their table
		of := func(st leasestore.Store) *counted {
			own, _ := stores.Load(fmt.Sprint(st))
			return own.(*counted)
		}
		leasetest.Suite{Open: func(t *testing.T) leasetest.Opener {
			own := &counted{store: s.another(t)}
			if s.Kind == "sqlite" {
				own.store = newStore(t, s.Kind, leaser)
			}
			stores.Store(own.Table, own)
			return func(t *testing.T) leasestore.Store {
				db := own.Open(t, own.URL)
				count := func(*gorm.DB) { own.sent.Add(1) }
				need.Must(t, errors.Join(db.Callback().Raw().Register("test:count", count), db.Callback().Row().Register("test:count", count),
					db.Callback().Create().Register("test:count", count)))
				st := worker.NewStore(db, worker.StoreConfig{Prefix: own.prefix})
				// On a busy machine, SQLite's writers can wait for one another too long; a start tries again too.
				servertest.Eventually(t, "the table is there", func() bool { return st.EnsureSchema(context.Background()) == nil })
				return st
			}
		}, Delete: func(t *testing.T, st leasestore.Store, number int64) {
			of(st).Exec(t, "DELETE FROM %s WHERE worker_id = %d", st, number)
		}, Requests: func(_ *testing.T, st leasestore.Store) int64 { return of(st).sent.Load() }}.Run(t)
	})
}

// within is the range of all numbers.
var within = leasestore.Range{From: 0, To: max22}

// acquire is the write of a new holder.
func acquire(number int64, token string, fresh bool) leasestore.Write {
	return leasestore.Write{Number: number, Token: token, Until: number, Change: leasestore.Acquire, Node: node, Within: within, Chosen: true, Fresh: fresh}
}

// inserts inserts a row, which has to be that of a number, and done by this call or not.
func (s *store) inserts(t *testing.T, db *gorm.DB, w leasestore.Write, number int64, want bool) {
	t.Helper()
	if got, done, err := s.leaser(db).Insert(t.Context(), w); got != number || done != want || err != nil {
		t.Errorf("%s: number %d, %t, %v; want %d, %t", w.Token, got, done, err, number, want)
	}
}

// A look shows 256 free rows, so that not all who start at once try for the same. Rows count as given where the count is
// gone. Of many rows, a look that is not full shows a sample, in which there is a free row if there are some.
func TestLook(t *testing.T) {
	need.Time(t)
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		rows := s.leaser(s.elsewhere(t))
		look := func(full bool) leasestore.View {
			t.Helper()
			view, err := rows.Look(t.Context(), within, full, time.Minute)
			if off := time.Since(time.UnixMilli(view.Now)); err != nil || off.Abs() > 30*time.Second {
				t.Fatalf("%v; the clock is %v off", err, off)
			}
			return view
		}
		found := func(from, to int64) (looks int) {
			s.Exec(t, "UPDATE %s SET heartbeat_at = CASE WHEN worker_id BETWEEN %d AND %d THEN 0 ELSE 5000000000000 END WHERE worker_id >= 0", s.Table, from, to)
			for range 200 {
				view := look(false)
				if len(view.Free) > 0 {
					looks++
				}
				if slices.ContainsFunc(view.Free, func(r leasestore.Row) bool { return r.Number < from || r.Number > to }) || view.Next != 3000 {
					t.Fatalf("%+v; want free rows, and 3000 to be the next number", view)
				}
			}
			return looks
		}
		s.fill(t, 0, 300)
		s.Exec(t, "UPDATE %s SET heartbeat_at = 0 WHERE worker_id >= 150", s.Table)
		if view := look(false); len(view.Free) != 150 || view.Free[0].Number != 150 || view.Next != 300 {
			t.Errorf("%+v; want 150 to 299, and 300 to be the next number", view)
		}
		s.Exec(t, "UPDATE %s SET heartbeat_at = 0", s.Table)
		if view := look(true); len(view.Free) != 256 || view.Free[255].Number != 255 || view.Next != 300 || view.Held != 0 {
			t.Errorf("%+v; want the first 256, and 300 to be the next number", view)
		}
		s.fill(t, 300, 3000)
		if n := found(1500, 1529); n < 175 { // 150 with a sample of 64
			t.Errorf("%d of 200 looks found a free row; want about 190", n)
		}
		s.Exec(t, "DELETE FROM %s WHERE worker_id BETWEEN 1 AND 2988", s.Table)
		if n := found(2989, 2998); n < 190 {
			t.Errorf("%d of 200 looks found a free row beside few others", n)
		}
	})
}

// If the database's clock was not read, a look and a read fail.
func TestClockNotRead(t *testing.T) {
	s := newStore(t, "sqlite", leaser)
	s.create(t)
	stop := func(tx *gorm.DB) {
		now := "CAST((JULIANDAY('now') - 2440587.5) * 86400000 AS INTEGER)"
		sql := strings.ReplaceAll(tx.Statement.SQL.String(), now+" AS clock", "0 AS clock")
		tx.Statement.SQL.Reset()
		tx.Statement.SQL.WriteString(sql)
	}
	db := s.Reopen(t, nil, gorm.Config{})
	need.Must(t, db.Callback().Row().Before("gorm:row").Register("test:stop", stop))
	rows := s.leaser(db)
	_, look := rows.Look(context.Background(), within, true, time.Minute)
	_, _, read := rows.Read(context.Background(), 0, time.Minute)
	need.Error(t, look, nil, "clock was not read")
	need.Error(t, read, nil, "clock was not read")
}

// A number that somebody chooses while a new one is made is not made twice.
func TestFreshBesideChosen(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		if s.DB.Name() == "sqlite" {
			return // one transaction writes at a time
		}
		s.create(t)
		chosen := acquire(1, "chosen", false)
		chosen.Within = leasestore.Range{From: 1, To: 1}
		s.inserts(t, s.DB, acquire(0, "before", true), 0, true) // makes the count
		db := s.before(t, func() { s.inserts(t, s.DB, chosen, 1, true) }, "INSERT")
		s.inserts(t, db, acquire(0, "fresh", true), 2, true)
	})
}

// A count that went back is raised above the rows, but not lowered below what others gave meanwhile. One that is gone begins
// above the rows.
func TestRecountBesideOthers(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		s.inserts(t, s.DB, acquire(0, "before", true), 0, true)
		s.Exec(t, "UPDATE %s SET reserved_until = 0 WHERE worker_id = -1", s.Table)
		db := s.before(t, func() { s.Exec(t, "UPDATE %s SET reserved_until = 10 WHERE worker_id = -1", s.Table) }, "UPDATE", "SET reserved_until")
		s.inserts(t, db, acquire(0, "fresh", true), 10, true)
		s.Exec(t, "UPDATE %s SET reserved_until = 0 WHERE worker_id = -1", s.Table)
		s.inserts(t, s.DB, acquire(0, "back", true), 11, true)
		s.Exec(t, "DELETE FROM %s WHERE worker_id = -1", s.Table)
		s.inserts(t, s.DB, acquire(0, "gone", true), 12, true)
	})
}

// Each number is listed with who has it, since when and how far, by the database's
// clock.
func TestLeases(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db := s.elsewhere(t)
		begun := time.Now().Truncate(time.Millisecond)
		for range 3 {
			holdertest.Take(t, s.leaser(db), max22)
		}
		s.Exec(t, "UPDATE %s SET heartbeat_at = heartbeat_at - 60000 WHERE worker_id = 2", s.Table)
		need.Must(t, s.leaser(db).Revoke(context.Background(), 1))
		ended := time.Now()
		within := func(at time.Time) bool { return !at.Before(begun) && !at.After(ended) }

		rows, err := s.leaser(s.DB).Leases(context.Background(), 0)
		if err != nil || len(rows) != 3 {
			t.Fatalf("Leases = %+v, %v; want 3 rows", rows, err)
		}
		for i, state := range []lease.State{lease.StateHeld, lease.StateExpired, lease.StateFree} {
			row, number := rows[i], int64(3-i)
			if row.Number != number || row.State != state || row.Host != node.Host || row.Port != node.Port || row.Type != node.Type {
				t.Errorf("row %+v, want number %d, %s, of %+v", row, number, state, node)
			}
			if !within(row.Created) || !within(row.ReservedUntil.Add(-lease.DefaultWindow)) {
				t.Errorf("row %+v: want it created, and a window reserved, from %v to %v", row, begun, ended)
			}
			alive := within(row.HeartbeatAt)
			if state == lease.StateExpired {
				alive = within(row.HeartbeatAt.Add(time.Minute))
			}
			if free := state == lease.StateFree; free != row.HeartbeatAt.IsZero() || free == alive {
				t.Errorf("row %+v: heartbeat is not in %v..%v", row, begun, ended)
			}
		}
	})
}

func TestListWithoutTable(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		_, nodes := s.registry(s.DB).Nodes(context.Background(), 1)
		_, leases := s.leaser(s.DB).Leases(context.Background(), 1)
		free := s.leaser(s.DB).Revoke(context.Background(), 0)
		for doing, err := range map[string]error{"worker: list ": nodes, "lease: list ": leases, "lease: free number 0 in ": free} {
			table := s.prefix + map[bool]string{true: "WORKER_NODE", false: "WORKER_LEASE"}[doing == "worker: list "]
			if !errors.Is(err, worker.ErrNoTable) || !strings.HasPrefix(err.Error(), doing+table+": ") || strings.Count(err.Error(), "no such table") > 1 {
				t.Errorf("%v; want ErrNoTable", err)
			}
		}
	})
}

// fill makes the rows of the numbers from one to below another, held for long, and their count.
func (s *store) fill(t testing.TB, from, to int64) {
	t.Helper()
	row := "(%d, 'a', %[1]d, 5000000000000, 'h', '80', 1, 1)"
	for ; from < to; from += 1000 {
		rows := []string{}
		for number := from; number < min(to, from+1000); number++ {
			rows = append(rows, fmt.Sprintf(row, number))
		}
		s.Exec(t, "INSERT INTO %s (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) VALUES "+strings.Join(rows, ", "), s.Table)
	}
	s.Exec(t, "DELETE FROM %s WHERE worker_id = -1", s.Table)
	s.Exec(t, "INSERT INTO %s (worker_id, token, reserved_until, heartbeat_at, host, port, type, created) VALUES (-1, '-', %d, 0, '-', '-', 0, 1)", s.Table, to)
}
