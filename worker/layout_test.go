package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A table belongs to one layout. A table that was made before layouts were remembered
// belongs to the layout of the next start.
func TestLayoutIsRemembered(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		before := assign(t, s.on(s.DB)) // which names no layout
		old, next := bits.Default(), bits.LongLived()
		start := func(layout, succeeds bits.Layout) (*uid.Cached, error) {
			t.Helper()
			gen, err := uid.NewCached(t.Context(), s.on(s.DB), uid.CachedConfig{Layout: layout, PreviousLayout: succeeds})
			if err == nil {
				t.Cleanup(func() { gen.Close() })
			}
			return gen, err
		}
		refused := func(layout, succeeds, remembered bits.Layout) {
			t.Helper()
			rows := s.numbers(t)
			_, err := start(layout, succeeds)
			if !errors.Is(err, lease.ErrLayout) {
				t.Fatalf("a start with %s: %v, want ErrLayout", layout, err)
			}
			wantAll(t, err, layout.String(), remembered.String(), s.Table, "PreviousLayout")
			wantNumbers(t, s, rows...)
		}
		allowed := func(layout, succeeds bits.Layout) *uid.Cached {
			t.Helper()
			gen, err := start(layout, succeeds)
			need.Must(t, err)
			return gen
		}
		if gen := allowed(old, bits.Layout{}); gen.Worker() == before && s.name != "leaser" {
			t.Errorf("number %d is given twice", before)
		}
		allowed(old, next)
		named := old
		named.WorkerParts = "rack:11+host:11" // which changes no id
		allowed(named, bits.Layout{})
		refused(next, bits.Layout{}, old)
		refused(next, bits.Snowflake(), old)
		allowed(next, old)
		allowed(next, old)
		refused(old, bits.Layout{}, next)
		for _, number := range s.numbers(t) {
			if number < 0 {
				t.Errorf("%d is listed as a number", number)
			}
		}
	})
}

// The two tables of one database have one layout, whichever remembers it, and also if two
// starts with two layouts make the rows at the same time.
func TestLayoutBeside(t *testing.T) {
	need.Time(t)
	eachPair(t, func(t *testing.T, p pair) {
		start := func(leaser uid.WorkerSource, layout, succeeds string) error {
			l, err := leaser.Lease(t.Context(), lease.Request{Limit: max22, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: layout, PreviousLayout: succeeds})
			if err == nil {
				need.Must(t, l.Release(t.Context(), time.Now()))
			}
			return err
		}
		p.nodes.create(t)
		p.leases.create(t)
		registry := p.registry(t)
		db, pool := p.leases.Pooled(t)
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if strings.HasPrefix(query, "INSERT") && strings.Contains(query, "VALUES") { // of the layout; row -1 is selected
				pool.Set(dbtest.Faults{})
				return start(registry, "A", "")
			}
			return nil
		}})
		err := start(p.leases.leaser(db, worker.StoreConfig{RegistryTable: p.nodes.Table}), "B", "")
		wantAll(t, err, "this generator has B", "ids have A", "NoOtherTable")
		leaser := p.leaser(t)
		for i, step := range []struct {
			leaser           uid.WorkerSource
			layout, succeeds string
			ok               bool
		}{
			{nil, "", "", true}, // the Leasers' table is made anew
			{leaser, "B", "C", false},
			{leaser, "A", "", true},
			{nil, "", "", true},
			{leaser, "B", "A", true},
			{registry, "A", "", false},
			{leaser, "A", "", false},
			{registry, "B", "", true},
			{registry, "C", "B", true},
			{leaser, "B", "A", false},
			{leaser, "C", "", true},
			{p.nodes.registry(p.nodes.DB, worker.StoreConfig{NoOtherTable: true}), "C", "", true},
		} {
			if step.leaser == nil {
				need.Must(t, p.leases.DB.Exec("DELETE FROM "+p.leases.Table).Error)
			} else if err := start(step.leaser, step.layout, step.succeeds); step.ok != (err == nil) || !step.ok && !errors.Is(err, lease.ErrLayout) {
				t.Fatalf("step %d, a start with %s after %q: %v", i, step.layout, step.succeeds, err)
			}
		}
	})
}

// A store that cannot be asked for its layout fails the start, and the error says what was
// being done.
func TestLayoutCannotBeRead(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		broken := errors.New("broken")
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if strings.Contains(query, "host AS host, port AS port FROM") || strings.Contains(query, "host_name AS host, port AS port FROM") {
				return broken
			}
			return nil
		}})
		_, err := uid.NewCached(t.Context(), s.on(db), uid.CachedConfig{})
		if !errors.Is(err, broken) {
			t.Fatalf("%v, want %v", err, broken)
		}
		wantAll(t, err, "compare the layout with that of "+s.Table)
	})
}
