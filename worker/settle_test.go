package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// running is what the tests of layouts need of a generator.
type running interface {
	Layout() bits.Layout
	Close() error
}

// generators starts each kind of generator.
var generators = map[string]func(context.Context, uid.WorkerSource, bits.Layout, *slog.Logger) (running, error){
	"Cached": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewCached(ctx, s, uid.CachedConfig{Layout: layout, Logger: log})
	},
	"Default": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewDefault(ctx, s, uid.DefaultConfig{Layout: layout, Logger: log})
	},
	"Slots": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewSlots(ctx, s, uid.SlotsConfig{Layout: layout, Logger: log})
	},
	"Backfill": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewBackfill(ctx, s, uid.BackfillConfig{Layout: layout, Logger: log})
	},
}

// home is where the generators of a test have their numbers.
type home struct {
	fresh   bits.Layout                   // of a generator without a layout, if there were no numbers before
	source  func() uid.WorkerSource       // a new one
	orphans map[string]func(t *testing.T) // ways to leave numbers without a layout; nil is a home that remembers nothing
}

// homes has, for each kind of source, what returns new homes.
func homes() map[string]func(t *testing.T) func() home {
	all := map[string]func(t *testing.T) func() home{
		"static": func(*testing.T) func() home {
			return func() home {
				return home{bits.Fleet(), func() uid.WorkerSource { return lease.NewStatic(7) }, nil}
			}
		},
		"Leaser on memory": func(*testing.T) func() home {
			return func() home {
				store := new(leasetest.Memory)
				return home{
					bits.Fleet(), func() uid.WorkerSource { return lease.New(store, lease.Config{Logger: silent}) },
					map[string]func(*testing.T){"leases": func(t *testing.T) {
						_, _, err := store.Insert(t.Context(), leasestore.Write{Fresh: true, Token: "a", Within: leasestore.Range{To: 9}})
						need.Must(t, err)
					}},
				}
			}
		},
	}
	for _, db := range dbtest.Kinds {
		for kind, fresh := range map[string]bits.Layout{aLeaser: bits.Fleet(), aRegistry: bits.Registry()} {
			all[kind+" on "+db] = func(t *testing.T) func() home {
				base := newStore(t, db, leaser)
				return func() home {
					s := base.another(t)
					node := s.as(registry)
					return home{fresh, func() uid.WorkerSource { return s.kind(kind, s.DB) }, map[string]func(*testing.T){
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
	other := bits.Layout{TimeBits: 31, WorkerBits: 20, SequenceBits: 12, Epoch: time.Date(2019, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second}
	for name, open := range homes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := open(t)
			for kind, start := range generators {
				if kind == "Backfill" && name == "static" {
					continue // its number is not new
				}
				h := next()
				begin := func(stated bits.Layout, log *slog.Logger) (bits.Layout, error) {
					gen, err := start(t.Context(), h.source(), stated, log)
					if err != nil {
						return bits.Layout{}, err
					}
					return gen.Layout(), gen.Close()
				}
				want := func(situation string, stated, want bits.Layout, from string) {
					t.Helper()
					var log logged.Text
					if got, err := begin(stated, log.Logger()); got != want || err != nil || log.Count("uid: started", "layout_from="+from) != 1 {
						t.Errorf("%s, %s: layout %v and %v, want %v from %s; logged\n%s", kind, situation, got, err, want, from, log.String())
					}
				}
				want("new store", bits.Layout{}, h.fresh, "default")
				if h.orphans == nil {
					continue
				}
				want("after the first start", bits.Layout{}, h.fresh, "store")
				want("after the first start", h.fresh, h.fresh, "config")

				h = next()
				want("first start with a layout", other, other, "config")
				want("remembered layout", bits.Layout{}, other, "store")

				for how := range h.orphans {
					h = next()
					h.orphans[how](t)
					_, err := begin(bits.Layout{}, silent)
					var unknown *lease.UnknownLayoutError
					if !errors.Is(err, lease.ErrLayout) || !errors.As(err, &unknown) {
						t.Errorf("%s, %s without a layout: %v, want an UnknownLayoutError", kind, how, err)
					}
					if unknown != nil && unknown.Err == nil {
						wantAll(t, err, "state the layout in the config", "docs/migrating.md")
						want(how, other, other, "config")
					}
				}

				for _, stated := range []bits.Layout{{}, other} {
					h = next()
					var made [2]bits.Layout
					var errs [2]error
					var both sync.WaitGroup
					for i, layout := range []bits.Layout{{}, stated} {
						both.Go(func() { made[i], errs[i] = begin(layout, silent) })
					}
					both.Wait()
					refused := stated != bits.Layout{} && errors.Is(errs[1], lease.ErrLayout) && made[0] == h.fresh // the other was faster
					if errs[0] != nil || !refused && (errs[1] != nil || made[0] != made[1]) {
						t.Errorf("%s, two starts at once, one with %v: %v and %v", kind, stated, made, errs)
					}
				}
			}
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
