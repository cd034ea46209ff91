package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
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

// An outage is how a database can be unavailable: it ends when the function that is
// returned is called.
type outage func() (end func())

// Ids go on while the database is unavailable: for ever with a Registry, to the end of
// the window with a Leaser. They go on when it is back, with nothing started anew.
func TestDatabaseUnavailable(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		var out logged.Text
		db, pool := s.Pooled(t)
		s.sitOut(t, s.on(db, append(quick(s), logTo(out.Logger()))...), errUnavailable, func() func() {
			pool.Cut(errUnavailable)
			return pool.Heal
		})
		if s.name != "leaser" {
			return
		}
		servertest.Eventually(t, "the log is complete", func() bool { return out.Count("level=INFO", "renewed again") == 1 })
		if out.Count("level=WARN") != 1 || out.Count("level=WARN", "not renewed", errUnavailable.Error(), "number=0", "store="+s.Table) != 1 {
			t.Errorf("logged %s", &out)
		}
	})
}

// The same with a network that is cut, and the driver's own errors.
func TestNetworkCut(t *testing.T) {
	on(t, []string{"mysql", "postgres"}, all, func(t *testing.T, s *store) {
		url, link := s.Linked(t)
		s.sitOut(t, s.on(s.Open(t, url), quick(s)...), syscall.ECONNREFUSED, func() func() {
			link.Cut()
			return func() { servertest.Eventually(t, "the address is free", func() bool { return link.Mend() == nil }) }
		})
	})
}

// quick are options with which a Leaser notices soon.
func quick(s *store) []option {
	opts := []option{logTo(new(logged.Text).Logger())}
	if s.name == "leaser" {
		opts = append(opts, quickly, lease.Config{Window: 5 * time.Minute})
	}
	return opts
}

// sitOut makes ids through an outage.
func (s *store) sitOut(t *testing.T, a subject, cause error, begin outage) {
	gen := cached(t, a)
	var all ids
	if _, err := all.draw(t, gen, 10); err != nil {
		t.Fatal(err)
	}
	end := begin()
	if s.name != "leaser" {
		if _, err := all.draw(t, gen, 4*3600); err != nil {
			t.Error(err)
		}
		end()
		return
	}
	until := runDry(t, gen, &all, cause)
	if stats := gen.Stats(); !errors.Is(stats.Clock.LeaseError, cause) || stats.Clock.WorkerChanges != 0 {
		t.Errorf("%+v", stats)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if id, err := gen.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait = %d, %v; want the end of its context", id, err)
	}
	end()
	id, err := gen.Wait(context.Background())
	if err != nil || gen.Worker() != 0 {
		t.Errorf("Wait = %d of worker %d, %v; want an id of worker 0", id, gen.Worker(), err)
	}
	if begun := tick(t, gen, id); begun.Add(time.Second).Before(until) {
		t.Errorf("id of %v, though all up to %v are issued", begun, until)
	}
	if _, err := all.draw(t, gen, 1000); err != nil {
		t.Error(err)
	}
	servertest.Eventually(t, "all is well", func() bool { return gen.Stats().Clock.LeaseError == nil })
	if stats := gen.Stats(); stats.Clock.WorkerChanges != 0 {
		t.Errorf("%+v", stats)
	}
}

// Statements that take longer than the time between two renewals keep nobody from
// renewing.
func TestSlow(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		slow := func(ctx context.Context, _ string) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(40 * time.Millisecond): // the interval is 25
				return nil
			}
		}
		pool.Set(dbtest.Faults{Statement: slow})
		h := holding.Take(t, s.leaser(db, quickly), max22)
		until := h.Last().Until
		for range 3 {
			until = h.Await(t, "more is reserved", func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil }).Until
		}
		h.Kept(t)
	})
}

// Statements that are never answered are given up, and ids go on meanwhile.
func TestHangs(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		s.hold(t, s.leaser(db, quick(s)...), func() func() {
			pool.Hang()
			return pool.Heal
		})
	})
}

// The same with a table that is locked, and the driver's own way to give up.
func TestLocked(t *testing.T) {
	on(t, []string{"mysql", "postgres"}, leasers, func(t *testing.T, s *store) {
		s.hold(t, s.leaser(s.DB, quick(s)...), func() func() { return s.lock(t) })
	})
}

// hold makes ids while no statement is answered.
func (s *store) hold(t *testing.T, a subject, begin outage) {
	gen := cached(t, a)
	var all ids
	end := begin()
	servertest.Eventually(t, "a statement is given up", func() bool {
		if _, err := all.draw(t, gen, 1); err != nil {
			t.Fatal(err)
		}
		return errors.Is(gen.Stats().Clock.LeaseError, context.DeadlineExceeded)
	})
	if _, err := all.draw(t, gen, 100); err != nil {
		t.Error(err)
	}
	end()
	servertest.Eventually(t, "it is renewed", func() bool { return gen.Stats().Clock.LeaseError == nil })
	if stats := gen.Stats(); stats.Clock.WorkerChanges != 0 || stats.Clock.Worker != 0 {
		t.Errorf("%+v", stats)
	}
}

// If the database stops answering, a start ends with its context, at any step.
// It leaves nothing that keeps others out for longer than the expiry.
func TestHangsAtStart(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		var points []*store // a table for each, so that none is in another's way
		started := make([]bool, 20)
		for range started {
			own := s.Another
			if s.Kind == "sqlite" { // and a file, where only one can write
				own = func(t *testing.T) *dbtest.Store { return dbtest.New(t, s.Kind) }
			}
			points = append(points, &store{own(t), s.assigner})
		}
		var wg sync.WaitGroup
		for point, s := range points {
			s.create(t)
			db, pool := s.Pooled(t)
			a := s.on(db, quick(s)...)
			limit := map[string]int64{"registry": max22, "attested": max22, "leaser": 0}[s.name]
			wg.Go(func() {
				sent := 0
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				pool.Set(dbtest.Faults{Statement: func(ctx context.Context, _ string) error {
					if sent++; sent > point {
						cancel() // the caller's patience ends here, however long it took
						<-ctx.Done()
					}
					return ctx.Err()
				}})
				began := time.Now()
				_, err := take(t, ctx, a, limit)
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("at statement %d: took %v", point, took)
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("at statement %d: %v", point, err)
				}
				started[point] = err == nil
				pool.Heal()
			})
		}
		wg.Wait()
		for point, s := range points {
			servertest.Eventually(t, "a number is free", func() bool {
				_, err := take(t, context.Background(), s.on(s.DB, quick(s)...), max22)
				return err == nil
			})
			if numbers := s.numbers(t); s.name == "leaser" && !started[point] && len(numbers) > 2 {
				t.Errorf("at statement %d: %v", point, numbers)
			}
		}
		// A statement that is given up and sent again counts twice, so the last may hang too.
		if started[0] || s.name == "leaser" && !slices.Contains(started, true) {
			t.Errorf("started %v; want that the first hung, and a later one did not", started)
		}
	})
}

// A table that is renamed is a database that is unavailable.
func TestTableRenamed(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		assign(t, s.on(s.DB))
		rename := func(from, to string) { s.Exec(t, "ALTER TABLE %s RENAME TO %s", from, to) }
		if s.name == "registry" {
			rename(s.Table, s.Table+"_old")
			defer rename(s.Table+"_old", s.Table)
			number, err := s.registry(s.DB, worker.StoreConfig{NoSchema: true}).Assign(context.Background(), max22)
			if number != 0 || err == nil {
				t.Errorf("Assign = %d, %v", number, err)
			}
			return
		}
		gen := cached(t, s.leaser(s.DB, quick(s)...))
		var all ids
		rename(s.Table, s.Table+"_old")
		servertest.Eventually(t, "it is told", func() bool { return gen.Stats().Clock.LeaseError != nil })
		if _, err := all.draw(t, gen, 100); err != nil {
			t.Error(err)
		}
		if _, err := s.leaser(s.DB).Leases(context.Background(), 0); !errors.Is(err, worker.ErrNoTable) {
			t.Errorf("Leases = %v; want ErrNoTable: no table is made in its place", err)
		}
		rename(s.Table+"_old", s.Table)
		servertest.Eventually(t, "it is renewed", func() bool { return gen.Stats().Clock.LeaseError == nil })
		if stats := gen.Stats(); stats.Clock.Worker != 1 || stats.Clock.WorkerChanges != 0 {
			t.Errorf("%+v", stats)
		}
		if _, err := all.draw(t, gen, 100); err != nil {
			t.Error(err)
		}
	})
}

// Time that is used up faster than a renewal reserves more is asked for at once: ids go
// on through one window after the other.
func TestAsksInTime(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		gen := cached(t, s.leaser(s.DB)) // the interval is 15 seconds
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		last := uid.ID(0)
		for range 4 * 60 * 60 * 3 { // of 18 windows
			id, err := gen.Wait(ctx)
			if err != nil || id <= last {
				t.Fatalf("id %d after %d, %v", id, last, err)
			}
			last = id
		}
	})
}
