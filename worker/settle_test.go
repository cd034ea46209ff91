package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/settled"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// A generator whose config states no layout has the layout that the store remembers or, in a new store, that of its source.
func TestLayoutIsSettled(t *testing.T) {
	each(t, leasers, func(t *testing.T, base *store) {
		for kind, fresh := range map[string]bits.Layout{aLeaser: bits.Fleet(), aRegistry: bits.Registry()} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				settled.Run(t, settled.Kinds, func() settled.Home {
					s := base.another(t)
					node := s.as(registry)
					return settled.Home{Fresh: fresh, Source: func() uid.WorkerSource { return s.kind(kind, s.DB) }, Orphans: map[string]func(*testing.T){
						"Java's rows": func(t *testing.T) { s.create(t); s.draw(t) },
						"pruned rows": func(t *testing.T) { s.create(t); s.draw(t); node.Exec(t, "DELETE FROM %s", node.Table) },
						"leases":      func(t *testing.T) { assign(t, s.kind(aLeaser, s.DB)); node.Exec(t, "DELETE FROM %s", node.Table) },
					}}
				})
			})
		}
	})
}

// A start without a layout sends one statement more than one with the layout, and one with a wrong config none.
func TestSettlingCostsOneRequest(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for _, kind := range []string{aRegistry, aLeaser} {
			count := func(config uid.DefaultConfig) (statements int, err error) {
				db, pool := s.Pooled(t)
				source := s.kind(kind, db)
				pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { statements++; return nil }})
				config.Logger = silent
				gen, err := uid.NewDefault(t.Context(), source, config)
				began := statements
				if err == nil {
					t.Cleanup(func() { gen.Close() })
				}
				return began, err
			}
			_, err := count(uid.DefaultConfig{Layout: bits.Registry()})
			need.Must(t, err)
			stated, err := count(uid.DefaultConfig{Layout: bits.Registry()})
			need.Must(t, err)
			settled, err := count(uid.DefaultConfig{})
			need.Must(t, err)
			if settled > stated+1 {
				t.Errorf("%s: %d statements with a layout, %d without, want one more", kind, stated, settled)
			}
			if n, err := count(uid.DefaultConfig{MaxBackward: -5}); n != 0 || !errors.Is(err, uid.ErrConfig) {
				t.Errorf("%s: %d statements and %v for a wrong config, want none", kind, n, err)
			}
		}
	})
}

// A Registry that adopts a layout with few numbers says how many starts it lasts.
func TestFewNumbersAreWarnedOf(t *testing.T) {
	s := newStore(t, "sqlite", registry)
	var log logged.Text
	need.Must(t, s.begin(t, aLeaser, s.DB, bits.Fleet()))
	gen, err := uid.NewDefault(t.Context(), s.registry(s.DB, logTo(log.Logger())), uid.DefaultConfig{Logger: silent})
	need.Must(t, err)
	need.Must(t, gen.Close())
	if log.Count("level=WARN", "few worker numbers", "starts=65535") != 1 {
		t.Errorf("logged\n%s\nwant a warning", log.String())
	}
}

// A table whose first holder stated no layout does not know it.
func TestAnyLayoutIsUnknown(t *testing.T) {
	s := newStore(t, "sqlite", leaser)
	held, err := s.leaser(s.DB).Lease(t.Context(), lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}})
	need.Must(t, err)
	t.Cleanup(func() { _ = held.Release(context.Background(), time.Time{}) })
	for _, kind := range []string{aRegistry, aLeaser} {
		need.Error(t, s.begin(t, kind, s.DB, bits.Layout{}), lease.ErrLayout)
	}
}

// A table belongs to one layout, until that is changed. Then new numbers are those that its ids may have.
func TestLayoutIsRemembered(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		before := assign(t, s.on(s.DB))
		old, next := bits.Registry(), bits.LongLived()
		start := func(layout bits.Layout) (*uid.Cached, error) {
			return uid.NewCached(t.Context(), s.on(s.DB), uid.CachedConfig{Layout: layout})
		}
		refused := func(layout, remembered bits.Layout) {
			t.Helper()
			rows := s.numbers(t)
			_, err := start(layout)
			need.Error(t, err, lease.ErrLayout, layout.String(), remembered.String(), s.Table, "layout change --to "+layout.String())
			wantNumbers(t, s, rows...)
		}
		allowed := func(layout bits.Layout) *uid.Cached {
			t.Helper()
			gen, err := start(layout)
			need.Must(t, err)
			t.Cleanup(func() { gen.Close() })
			return gen
		}
		if gen := allowed(old); gen.Worker() == before && s.name != "leaser" {
			t.Errorf("number %d is given twice", before)
		}
		named := old
		named.WorkerParts = "rack:11+host:11" // which changes no id
		gen := allowed(named)
		last := gen.Worker()
		earlier, err := gen.Next()
		need.Must(t, err)
		refused(next, old)
		refused(bits.Snowflake(), old)
		change, err := s.leaser(s.DB).ChangeLayout(t.Context(), next)
		need.Must(t, err)
		if change.Used < last || change.Numbers.From < 16*(last+1) { // there are fewer sequences, so numbers are greater
			t.Errorf("%+v after number %d", change, last)
		}
		for _, layout := range []bits.Layout{next, {}} {
			gen := allowed(layout)
			if gen.Layout().String() != next.String() || gen.Worker() < change.Numbers.From {
				t.Errorf("number %d of %s; want one from %d", gen.Worker(), gen.Layout(), change.Numbers.From)
			}
			if parts, err := gen.Parse(earlier); !errors.Is(err, bits.ErrForeign) {
				t.Errorf("%d is read as %+v, %v; want that it has an earlier layout", earlier, parts, err)
			}
			id, err := gen.Next()
			need.Must(t, err)
			if parts, err := gen.Parse(id); err != nil || parts.Worker != gen.Worker() {
				t.Errorf("%d is read as %+v, %v; want worker %d", id, parts, err, gen.Worker())
			}
		}
		refused(old, next)
		nodes := s.as(registry)
		nodes.Exec(t, "DELETE FROM %s WHERE id > %d", nodes.Table, last) // as a restore does: the next keys are not among the layout's
		nodes.setNext(t, last+1)
		_, err = start(next) // it may not have those
		need.Error(t, err, nil, "uidring workers raise NUMBER")
		for _, number := range s.numbers(t) {
			if number < 0 {
				t.Errorf("%d is listed as a number", number)
			}
		}
	})
}

// A store that cannot be asked for its layout fails the start, and the error says what was being done.
func TestLayoutCannotBeRead(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		_, err := uid.NewCached(t.Context(), s.on(s.failing(t, map[string]error{"SELECT host_name AS host": errMade})), uid.CachedConfig{})
		need.Error(t, err, errMade, "read the layout of "+s.Table)
	})
}
