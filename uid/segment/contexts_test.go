package segment_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// A start ends with its context, or after the time-out of a load, whichever query of the store hangs.
func TestStartsEnd(t *testing.T) {
	create := segment.Config{Create: true}
	for name, start := range map[string]func(context.Context, segment.Store) error{
		"New": func(ctx context.Context, store segment.Store) error {
			g, err := segment.New(ctx, store, "orders", create)
			if err == nil {
				err = g.Close()
			}
			return err
		},
		"Stripe": func(ctx context.Context, store segment.Store) error {
			s, err := segment.Stripe(ctx, []segment.Store{store}, "orders", segment.StripeConfig{Config: create})
			if err == nil {
				err = s.Close()
			}
			return err
		},
		"Tags": func(ctx context.Context, store segment.Store) error {
			tags, err := segment.NewTags(store, segment.TagsConfig{Config: create})
			must(t, err)
			defer tags.Close()
			_, err = tags.Next(ctx, "orders")
			return err
		},
	} {
		for _, limit := range []time.Duration{time.Second, segment.DefaultLoadTimeout} {
			hung := 0
			for hangs := 1; hangs == 1 || hung == hangs-1; hangs++ { // the first query, the second and so on
				synctest.Test(t, func(t *testing.T) {
					queries := 0
					store := &counter{around: func(ctx context.Context, method string, do func() error) error {
						if queries++; queries != hangs || method == "Return" {
							return do()
						}
						hung++
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
					if took := time.Since(began); hung == hangs && (!errors.Is(err, context.DeadlineExceeded) || took != limit) {
						t.Errorf("%s: query %d hangs: %v after %v, want %v", name, hangs, err, took, limit)
					}
				})
			}
			if hung < 3 {
				t.Errorf("%s: %d queries", name, hung)
			}
		}
	}
}

// While a store is unavailable, a call ends with its context.
func TestCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, other, config := new(counter), new(counter), segment.Config{Create: true}
		tags := openTags(t, store, segment.TagsConfig{Config: config})
		_, err := tags.Next(t.Context(), "tag")
		must(t, err)
		gens := map[string]uid.Generator{
			"Generator": open(t, store, config),
			"Striped":   stripe(t, []segment.Store{other}, segment.StripeConfig{Config: config}),
		}
		synctest.Wait()
		unavailable := func(is bool) { store.unavailable.Store(is); other.unavailable.Store(is) }
		unavailable(true)
		calls := map[string]func(context.Context) error{
			"Tags.Wait":  func(ctx context.Context) error { _, err := tags.Wait(ctx, "tag"); return err },
			"Tags.WaitN": func(ctx context.Context) error { _, err := tags.WaitN(ctx, "tag", make([]uid.ID, 1)); return err },
			"Tags.Claim": func(ctx context.Context) error { _, err := tags.Claim(ctx, "tag", 1); return err },
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
		for err := error(nil); err == nil; _, err = tags.Next(t.Context(), "tag") {
		}
		for name, call := range calls {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			back := time.AfterFunc(time.Hour, func() { unavailable(false) })
			began := time.Now()
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
				t.Fatalf("%s: %v after %v, want the end of its context", name, err, time.Since(began))
			}
			back.Stop()
			cancel()
		}
	})
}
