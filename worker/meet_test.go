package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A start is interrupted before each of its statements, and at each commit whose answer is lost, by
// another start, whose rows are then deleted. Then it goes on, or is refused all further statements,
// as one that is killed or cut off. No number is given twice, whatever the kinds of the two and
// whether or not one of them is the first of the database. If one draws and the other chooses, one of
// them is refused. The other start goes on, however long the first one is stopped.
func TestStartsMeet(t *testing.T) {
	need.Time(t)
	kinds := []string{aRegistry, aLeaser, aForeign, aRange, anOrdinal}
	for _, first := range kinds {
		for _, second := range kinds {
			if first == aForeign || chooses(first) && (second == aForeign || chooses(second)) {
				continue // one statement; one that must not be there; what package leasetest tests
			}
			t.Run(first+" and "+second, func(t *testing.T) {
				each(t, leasers, func(t *testing.T, s *store) {
					stride := 5 // each pair of starts has its own part of the points
					if s.Kind == "sqlite" && need.All() {
						stride = 1
					}
					if raced { // which makes each start ten times slower
						stride = 15
					}
					other := s.openPatient(t)
					for i, how := range []struct {
						before    int
						lost, cut bool
					}{{0, false, false}, {2, false, false}, {0, true, false}, {0, false, true}, {1, false, true}} {
						for point := 1 + (len(first)+len(second)+i)%stride; ; point += stride {
							m := meeting{store: s.another(t), T: t, other: other, point: point, lost: how.lost, cut: how.cut, mixed: chooses(first) != chooses(second), given: map[int64]string{}}
							if second == aForeign { // without a record, nobody knows the layout of its ids
								m.layout = bits.Registry()
							}
							if m.run(how.before, first, second) {
								break
							}
						}
					}
				})
			})
		}
	}
}

// stopped is when a start that has not ended is taken for one that waits for a lock. On a slow disk, a start takes many seconds.
const stopped = 2 * time.Minute

// openPatient returns a handle that waits for a lock longer than stopped, so that no wait passes for slowness.
func (s *store) openPatient(t *testing.T) *gorm.DB {
	t.Helper()
	if s.Kind == "mysql" {
		return s.Open(t, s.With("innodb_lock_wait_timeout=300")) // PostgreSQL has no limit
	}
	return s.Open(t, s.Waiting(t, 5*time.Minute).URL)
}

type meeting struct {
	*store
	*testing.T
	other  *gorm.DB // connections of the starts that meet the first
	point  int
	lost   bool // the answer of the commit is lost
	cut    bool // no statement follows
	mixed  bool // one of the two draws, and the other chooses
	layout bits.Layout
	mu     sync.Mutex
	given  map[int64]string
}

func (m *meeting) start(kind string, db *gorm.DB) {
	gen, err := uid.NewCached(m.Context(), m.kind(kind, db), uid.CachedConfig{Layout: m.layout, Logger: silent})
	switch {
	case err == nil:
		m.T.Cleanup(func() { gen.Close() })
		m.mu.Lock()
		defer m.mu.Unlock()
		if before := m.given[gen.Worker()]; before != "" && !(before == anOrdinal && kind == before) { // which may have a deleted number
			m.Errorf("point %d, lost %t: number %d is given to %s and to %s", m.point, m.lost, gen.Worker(), before, kind)
		}
		for _, before := range m.given {
			if chooses(before) != chooses(kind) {
				m.Errorf("point %d, lost %t: %s has a number beside %s", m.point, m.lost, kind, before)
			}
		}
		m.given[gen.Worker()] = kind
	case kind == aRegistry && errors.Is(err, worker.ErrKey): // its row was deleted before it was read back
	case !(m.mixed && errors.Is(err, worker.ErrMixed)) && !errors.Is(err, errAnswer) && !errors.Is(err, lease.ErrHeld) && !(m.cut && errors.Is(err, errMade)):
		m.Errorf("point %d, lost %t: %s: %v", m.point, m.lost, kind, err)
	}
}

// run starts some generators like the first, then first, and at a point of it second; then both again. It reports
// whether the start is shorter than that.
func (m *meeting) run(before int, first, second string) (beyond bool) {
	other := m.other
	db, pool := m.Pooled(m.T)
	at := 0
	var meeting sync.WaitGroup
	interrupt := func() {
		if at++; at != m.point {
			return
		}
		meeting.Go(func() {
			if second == aForeign {
				_ = m.as(registry).on(other).EnsureSchema(context.Background()) // it has made its table
			}
			m.start(second, other)
			for _, statement := range []string{"DELETE FROM " + m.prefix + "WORKER_NODE WHERE id > 0", "DELETE FROM " + m.prefix + "WORKER_LEASE WHERE worker_id >= 0"} {
				_ = other.Exec(statement) // of a table that is there
			}
		})
		done := make(chan struct{})
		go func() { meeting.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(stopped):
			m.Errorf("point %d, lost %t: a %s that is stopped stops a %s", m.point, m.lost, first, second)
		}
	}
	faults := dbtest.Faults{}
	if m.lost {
		faults.Commit = func(tx *dbtest.Tx) error {
			err := tx.Tx.Commit()
			if interrupt(); err == nil && at == m.point {
				err = errAnswer
			}
			return err
		}
	} else {
		faults.Statement = func(_ context.Context, query string) error {
			if query == "BEGIN" && m.Kind == "postgres" {
				m.Errorf("point %d: a %s begins a transaction, so it can be stopped with what others wait for", m.point, first)
			}
			interrupt()
			if m.cut && at >= m.point {
				return errMade
			}
			return nil
		}
	}
	like := aLeaser
	if chooses(first) {
		like = aRange
	}
	for range before {
		gen, err := uid.NewCached(m.Context(), m.kind(like, other), uid.CachedConfig{Layout: m.layout, Logger: silent})
		need.Must(m.T, errors.Join(err, gen.Close()))
	}
	pool.Set(faults)
	m.start(first, db)
	meeting.Wait()
	pool.Heal()
	for _, kind := range []string{second, first} {
		if kind != anOrdinal { // whose number is held
			m.start(kind, other)
		}
	}
	return at < m.point
}

// A start that is stopped between any two statements keeps no operator from altering the tables, nor a start behind that.
func TestFrozenStartHoldsNoLock(t *testing.T) {
	need.Time(t)
	on(t, servers, leasers, func(t *testing.T, s *store) {
		other := s.openPatient(t)
		for _, kind := range []string{aRegistry, aLeaser, aRange} {
			for point, ended := 1, false; !ended; point += 2 {
				m := meeting{store: s.another(t), T: t, given: map[int64]string{}}
				m.start(kind, other)
				db, pool := m.Pooled(t)
				beyond := at(pool, point, func() {
					ctx, cancel := context.WithTimeout(t.Context(), stopped)
					defer cancel()
					for _, table := range []string{"WORKER_NODE", "WORKER_LEASE"} {
						if err := other.WithContext(ctx).Exec("ALTER TABLE " + m.prefix + table + " ADD extra INT").Error; err != nil && (kind != aRegistry || table == "WORKER_NODE") {
							t.Errorf("a %s that is stopped at statement %d stops ALTER TABLE %s: %v", kind, point, table, err)
						}
					}
					m.start(kind, other)
				})
				m.start(kind, db)
				ended = beyond()
			}
		}
	})
}

// A range takes a number that it shares with another range, and the row is deleted before the other range
// makes its own: the other range takes the next number. The first start of a range that overlaps another logs both.
func TestRangesMeet(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		wide, narrow := lease.Config{Numbers: &lease.Range{From: 1, To: 9}}, lease.Config{Numbers: &lease.Range{From: 2, To: 9}}
		assign(t, s.leaser(s.DB, quiet, wide))
		met, out := int64(-1), new(logged.Text)
		db := s.before(t, func() {
			met = assign(t, s.leaser(s.DB, logTo(out.Logger()), narrow))
			s.Exec(t, "DELETE FROM %s WHERE worker_id = %d", s.Table, met)
		}, "INSERT")
		if number := assign(t, s.leaser(db, quiet, wide)); met != 2 || number != 3 {
			t.Errorf("numbers %d and %d, want 2 and 3", met, number)
		}
		if out.Count("overlap", `range="2 to 9" other="1 to 9"`) != 1 {
			t.Errorf("logged %s, want both ranges", out)
		}
	})
}
