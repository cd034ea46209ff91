package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A start is interrupted before each of its statements, and at each commit whose answer is lost, by
// another start, whose rows are then deleted. No number is given twice, whichever of the two is a Registry
// and whether or not it is the first of the database. A range or an Assigner may be refused. The
// other start goes on, however long the first one is stopped.
func TestStartsMeet(t *testing.T) {
	need.Time(t)
	for _, first := range []string{"Registry", "Leaser", "range", "Assigner"} {
		for _, second := range []string{"Registry", "Leaser", "range", "Assigner"} {
			if first != "Registry" && second != "Registry" {
				continue // which package leasetest tests
			}
			t.Run(first+" and "+second, func(t *testing.T) {
				eachPair(t, func(t *testing.T, p pair) {
					stride := 4 // each pair of starts has its own quarter of the points
					if p.nodes.Kind == "sqlite" && need.All() {
						stride = 1
					}
					if raced { // which makes each start ten times slower
						stride = 12
					}
					for i, how := range []struct {
						before int
						lost   bool
					}{{0, false}, {2, false}, {0, true}} {
						for point := 1 + (len(first)+len(second)+i)%stride; ; point += stride {
							p := pair{&store{p.nodes.Another(t), registry}, &store{p.leases.Another(t), leaser}}
							if meet(t, p, how.before, first, second, point, how.lost) {
								break
							}
						}
					}
				})
			})
		}
	}
}

// A start sends no statement for each number that was given or assigned.
func TestStartAfterManyNumbers(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		assign(t, p.leaser(t))
		assign(t, p.leaser(t, lease.Config{Assigner: uid.NewStaticWorker(1_000_000)}))
		p.leases.Exec(t, "UPDATE %s SET reserved_until = 20000 WHERE worker_id = -1", p.leases.Table)
		db, pool := p.nodes.Pooled(t)
		for _, name := range []string{"Leaser", "Registry", "Leaser"} {
			var sent atomic.Int64
			pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { sent.Add(1); return nil }})
			number := assign(t, p.kind(name, db))
			if n := sent.Load(); n > 100 {
				t.Errorf("%s, number %d: %d statements, want some dozens", name, number, n)
			}
		}
	})
}

// meet starts some Leasers, then first, and at a point of it second; then both again. It reports whether the start is shorter than that.
func meet(t *testing.T, p pair, before int, first, second string, point int, lost bool) (beyond bool) {
	own, other := &store{p.nodes.Store, registry}, p.nodes.Open(t, p.nodes.URL)
	db, pool := own.Pooled(t)
	at, given := 0, map[int]string{}
	start := func(name string, db *gorm.DB) {
		gen, err := uid.NewCached(t.Context(), p.kind(name, db), uid.CachedConfig{Logger: silent})
		switch {
		case err == nil:
			t.Cleanup(func() { gen.Close() })
			if before := given[int(gen.Worker())]; before != "" && !(before == "Assigner" && name == before) { // which may have a deleted number
				t.Errorf("point %d, lost %t: number %d is given to %s and to %s", point, lost, gen.Worker(), before, name)
			}
			given[int(gen.Worker())] = name
		case name == "Registry" && errors.Is(err, worker.ErrKey): // its row was deleted before it was read back
		case !errors.Is(err, worker.ErrMixed) && !errors.Is(err, errAnswer) && !errors.Is(err, lease.ErrHeld):
			t.Errorf("point %d, lost %t: %s: %v", point, lost, name, err)
		}
	}
	var meeting sync.WaitGroup
	interrupt := func() {
		if at++; at != point {
			return
		}
		meeting.Go(func() {
			start(second, other)
			for _, statement := range []string{"DELETE FROM " + p.nodes.Table + " WHERE id > 0", "DELETE FROM " + p.leases.Table + " WHERE worker_id >= 0"} {
				_ = other.Exec(statement) // of a table that is there
			}
		})
		done := make(chan struct{})
		go func() { meeting.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(15 * time.Second):
			t.Errorf("point %d, lost %t: a %s that is stopped stops a %s", point, lost, first, second)
		}
	}
	faults := dbtest.Faults{}
	if lost {
		faults.Commit = func(tx *dbtest.Tx) error {
			err := tx.Tx.Commit()
			if interrupt(); err == nil && at == point {
				err = errAnswer
			}
			return err
		}
	} else {
		faults.Statement = func(_ context.Context, query string) error {
			if query == "BEGIN" && own.Kind == "postgres" {
				t.Errorf("point %d: a %s begins a transaction, so it can be stopped with what others wait for", point, first)
			}
			interrupt()
			return nil
		}
	}
	var earlier []*uid.Cached
	for range before {
		gen, err := uid.NewCached(t.Context(), p.kind("Leaser", other), uid.CachedConfig{Logger: silent})
		need.Must(t, err)
		earlier = append(earlier, gen)
	}
	for _, gen := range earlier {
		need.Must(t, gen.Close())
	}
	pool.Set(faults)
	start(first, db)
	meeting.Wait()
	pool.Heal()
	for _, name := range []string{second, first} {
		if name != "Assigner" { // whose number is held
			start(name, other)
		}
	}
	return at < point
}

// kind returns a source of numbers of the pair on db.
func (p pair) kind(name string, db *gorm.DB, more ...option) uid.WorkerSource {
	opts := append([]option{quiet, worker.StoreConfig{RegistryTable: p.nodes.Table}}, more...)
	switch name {
	case "Registry":
		return p.nodes.registry(db, append([]option{quiet, worker.StoreConfig{RegistryTable: p.leases.Table}}, more...)...)
	case "range":
		opts = append(opts, lease.Config{Numbers: &lease.Range{From: 1, To: 9}})
	case "Assigner":
		opts = append(opts, lease.Config{Assigner: uid.NewStaticWorker(1)})
	}
	return p.leases.leaser(db, opts...)
}

// A range takes a number that it shares with another range, and the row is deleted before the other range
// makes its own: the other range takes the next number.
func TestRangesMeet(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		wide, narrow := lease.Config{Numbers: &lease.Range{From: 1, To: 9}}, lease.Config{Numbers: &lease.Range{From: 2, To: 9}}
		assign(t, s.leaser(s.DB, quiet, wide))
		db, pool := s.Pooled(t)
		met := int64(-1)
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if met < 0 && strings.HasPrefix(query, "INSERT") {
				met = assign(t, s.leaser(s.DB, quiet, narrow))
				s.Exec(t, "DELETE FROM %s WHERE worker_id = %d", s.Table, met)
			}
			return nil
		}})
		if number := assign(t, s.leaser(db, quiet, wide)); met != 2 || number != 3 {
			t.Errorf("numbers %d and %d, want 2 and 3", met, number)
		}
	})
}
