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
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// homes has, for each kind of source, what returns new homes.
func homes() map[string]func(t *testing.T) func() settled.Home {
	all := map[string]func(t *testing.T) func() settled.Home{
		"static": func(*testing.T) func() settled.Home {
			return func() settled.Home {
				return settled.Home{Fresh: bits.Fleet(), Source: func() uid.WorkerSource { return lease.NewStatic(7) }}
			}
		},
		"Leaser on memory": func(*testing.T) func() settled.Home {
			return func() settled.Home {
				store := new(leasetest.Memory)
				return settled.Home{
					Fresh: bits.Fleet(), Source: func() uid.WorkerSource { return lease.New(store, lease.Config{Logger: silent}) },
					Orphans: map[string]func(*testing.T){"leases": func(t *testing.T) {
						_, _, err := store.Insert(t.Context(), leasestore.Write{Fresh: true, Token: "a", Within: leasestore.Range{To: 9}})
						need.Must(t, err)
					}},
				}
			}
		},
	}
	for _, db := range dbtest.Kinds {
		for kind, fresh := range map[string]bits.Layout{aLeaser: bits.Fleet(), aRegistry: bits.Registry()} {
			all[kind+" on "+db] = func(t *testing.T) func() settled.Home {
				base := newStore(t, db, leaser)
				return func() settled.Home {
					s := base.another(t)
					node := s.as(registry)
					return settled.Home{Fresh: fresh, Source: func() uid.WorkerSource { return s.kind(kind, s.DB) }, Orphans: map[string]func(*testing.T){
						"Java's rows": func(t *testing.T) { s.create(t); s.draw(t) },
						"pruned rows": func(t *testing.T) { s.create(t); s.draw(t); node.Exec(t, "DELETE FROM %s", node.Table) },
						"leases":      func(t *testing.T) { assign(t, s.kind(aLeaser, s.DB)); node.Exec(t, "DELETE FROM %s", node.Table) },
					}}
				}
			}
		}
	}
	return all
}

// A generator whose config states no layout has the layout that the store remembers or, in a new store, that of its source.
func TestLayoutIsSettled(t *testing.T) {
	t.Parallel()
	for name, open := range homes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settled.Run(t, settled.Kinds, open(t))
		})
	}
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
	s := newSQLite(t)
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
		if err := s.begin(t, kind, s.DB, bits.Layout{}); !errors.Is(err, lease.ErrLayout) {
			t.Errorf("%s: %v, want ErrLayout", kind, err)
		}
	}
}
