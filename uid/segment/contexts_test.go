package segment_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// tagsCalls are the calls that open a tag.
var tagsCalls = map[string]func(context.Context, *segment.Tags) error{
	"Tags.Next": func(ctx context.Context, tags *segment.Tags) error { _, err := tags.Next(ctx, "orders"); return err },
	"Tags.Wait": func(ctx context.Context, tags *segment.Tags) error { _, err := tags.Wait(ctx, "orders"); return err },
	"Tags.Claim": func(ctx context.Context, tags *segment.Tags) error {
		_, err := tags.Claim(ctx, "orders", 1)
		return err
	},
	"Tags.NextN": func(ctx context.Context, tags *segment.Tags) error {
		_, err := tags.NextN(ctx, "orders", make([]uid.ID, 1))
		return err
	},
	"Tags.WaitN": func(ctx context.Context, tags *segment.Tags) error {
		_, err := tags.WaitN(ctx, "orders", make([]uid.ID, 1))
		return err
	},
}

// ends wants that a call ends with its context, after a time.
func ends(t *testing.T, name string, after time.Duration, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	began := time.Now()
	if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != after {
		t.Errorf("%s: %v after %v, want the end of its context", name, err, time.Since(began))
	}
}

// generators start what draws from one tag.
var generators = map[string]func(context.Context, segment.Store, segment.Config) (uid.Generator, error){
	"Counter": func(ctx context.Context, store segment.Store, config segment.Config) (uid.Generator, error) {
		return segment.New(ctx, store, "orders", config)
	},
	"Striped": func(ctx context.Context, store segment.Store, config segment.Config) (uid.Generator, error) {
		return segment.NewStriped(ctx, []segment.Store{store}, "orders", segment.StripedConfig{Config: config})
	},
}

// A start ends with its context, or after the time-out of a load, whichever query of the store hangs.
func TestStartsEnd(t *testing.T) {
	create := segment.Config{Create: true}
	starts := map[string]func(context.Context, segment.Store) error{}
	for name, open := range generators {
		starts[name] = func(ctx context.Context, store segment.Store) error {
			g, err := open(ctx, store, create)
			if err == nil {
				err = g.Close()
			}
			return err
		}
	}
	for name, call := range tagsCalls {
		starts[name] = func(ctx context.Context, store segment.Store) error {
			tags, err := segment.NewTags(store, segment.TagsConfig{Config: create})
			must(t, err)
			defer tags.Close()
			return call(ctx, tags)
		}
	}
	for name, start := range starts {
		for _, limit := range []time.Duration{time.Second, segment.DefaultLoadTimeout} {
			var hung atomic.Int64                                    // the greatest query that hung
			for hangs := int64(1); hung.Load() == hangs-1; hangs++ { // the first query, the second and so on
				synctest.Test(t, func(t *testing.T) {
					var queries atomic.Int64
					store := &counter{around: func(ctx context.Context, method string, do func() error) error {
						if n := queries.Add(1); n != hangs || method == "Return" {
							return do()
						}
						hung.Store(hangs)
						<-ctx.Done()
						return ctx.Err()
					}}
					ctx, cancel := context.WithTimeout(t.Context(), 2*segment.DefaultLoadTimeout)
					if limit < segment.DefaultLoadTimeout {
						ctx, cancel = context.WithTimeout(t.Context(), limit)
					}
					defer cancel()
					began := time.Now()
					err := start(ctx, store)
					if took := time.Since(began); hung.Load() == hangs && (!errors.Is(err, context.DeadlineExceeded) || took != limit) {
						t.Errorf("%s: query %d hangs: %v after %v, want %v", name, hangs, err, took, limit)
					}
				})
			}
			if n := hung.Load(); n < 3 {
				t.Errorf("%s: %d queries", name, n)
			}
		}
	}
}

// While a store is unavailable, a call ends with its context.
func TestCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, other, config := new(counter), new(counter), segment.Config{Create: true}
		tags := openTags(t, store, segment.TagsConfig{Config: segment.Config{Create: true, RejectedTake: uid.PolicyWait}})
		_, err := tags.Next(t.Context(), "orders")
		must(t, err)
		gens := map[string]uid.Generator{
			"Counter": open(t, store, config),
			"Striped": stripe(t, []segment.Store{other}, segment.StripedConfig{Config: config}),
		}
		synctest.Wait()
		unavailable := func(is bool) { store.unavailable.Store(is); other.unavailable.Store(is) }
		unavailable(true)
		calls := map[string]func(context.Context) error{}
		for name, call := range tagsCalls {
			calls[name] = func(ctx context.Context) error { return call(ctx, tags) }
		}
		for name, g := range gens {
			calls[name+".Wait"] = func(ctx context.Context) error { _, err := g.Wait(ctx); return err }
			calls[name+".WaitN"] = func(ctx context.Context) error { _, err := g.WaitN(ctx, make([]uid.ID, 1)); return err }
			calls[name+".Claim"] = func(ctx context.Context) error { _, err := g.Claim(ctx, 1); return err }
			calls[name+".All"] = func(ctx context.Context) error {
				for _, err := range g.All(ctx) {
					return err
				}
				return nil
			}
			for err := error(nil); err == nil; _, err = g.Next() {
			}
		}
		for err := error(nil); err == nil; _, err = tags.TryClaim("orders", 1000) {
		}
		for name, call := range calls {
			back := time.AfterFunc(time.Hour, func() { unavailable(false) })
			ends(t, name, time.Minute, call)
			back.Stop()
		}
	})
}

// Shutdown ends with its context, beside a load and a return that do not.
func TestShutdownEnds(t *testing.T) {
	config := segment.Config{Create: true, Step: 100, MaxStep: 100}
	for name, open := range generators {
		for _, draws := range []int{1, 60} { // without a load, and with one
			synctest.Test(t, func(t *testing.T) {
				store := new(counter)
				g, err := open(context.Background(), store, config)
				must(t, err)
				synctest.Wait()
				store.takes.Store(int64(time.Hour))
				store.deaf.Store(true)
				for range draws {
					_, err := g.Next()
					must(t, err)
				}
				synctest.Wait()
				ends(t, fmt.Sprint(name, " after ", draws), 300*time.Millisecond, g.Shutdown)
				time.Sleep(3 * time.Hour) // the store returns
			})
		}
	}
}

// Shutdown does not wait for a store that is being opened.
func TestShutdownBesideAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		counters[1].unavailable.Store(true)
		config := segment.Config{Create: true}
		s := stripe(t, stores, segment.StripedConfig{Config: config})
		tags := openTags(t, counters[1], segment.TagsConfig{Config: config})
		counters[1].unavailable.Store(false)
		counters[1].takes.Store(int64(time.Hour))
		go tags.Next(context.Background(), "tag")
		time.Sleep(3 * time.Second)
		for _, shutdown := range []func(context.Context) error{s.Shutdown, tags.Shutdown} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if err := shutdown(ctx); err != nil || time.Since(began) != 0 {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
	})
}
