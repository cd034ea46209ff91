package segment_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// unaware is a store through which New does not see the counters of Stripe.
type unaware struct{ *uneven }

func (unaware) List() {}

// uneven is a store whose requests take up to 3 ms, and of which one may fail.
type uneven struct {
	*counter
	left *atomic.Int64 // writes until one fails; nil is never
	done bool          // whether the write that fails is done
}

func (u *uneven) write(do func()) error {
	time.Sleep(rand.N(3 * time.Millisecond))
	if u.left != nil && u.left.Add(-1) == 0 {
		if u.done {
			do()
		}
		return errUnavailable
	}
	do()
	return nil
}

func (u *uneven) List(ctx context.Context) ([]segment.Counter, error) {
	time.Sleep(rand.N(3 * time.Millisecond))
	return u.counter.List(ctx)
}

func (u *uneven) Create(ctx context.Context, tag string, next, step int64) (err error) {
	failed := u.write(func() { err = u.counter.Create(ctx, tag, next, step) })
	return errors.Join(failed, err)
}

func (u *uneven) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	failed := u.write(func() { first, count, err = u.counter.Reserve(ctx, tag, n) })
	return first, count, errors.Join(failed, err)
}

func (u *uneven) Raise(ctx context.Context, tag string, next int64) (now int64, err error) {
	failed := u.write(func() { now, err = u.counter.Raise(ctx, tag, next) })
	return now, errors.Join(failed, err)
}

func unevenStores(n int) (all []*uneven, stores []segment.Store) {
	for range n {
		u := &uneven{counter: new(counter)}
		all, stores = append(all, u), append(stores, u)
	}
	return all, stores
}

// New and Stripe never both make ids of a tag, whichever starts first, with Create or
// with counters that an operator made, in any of the stores.
func TestNewBesideStripe(t *testing.T) {
	create := segment.StripeConfig{Config: segment.Config{Create: true}}
	refusedNew := func(t *testing.T, store segment.Store, config segment.Config, want error) {
		t.Helper()
		_, err := segment.New(t.Context(), store, "orders", config)
		_, tagged := openTags(t, store, segment.TagsConfig{Config: config}).Next(t.Context(), "orders")
		for _, err := range []error{err, tagged} {
			if !errors.Is(err, want) || errors.Is(err, segment.ErrUnavailable) {
				t.Errorf("New and Tags: %v, want %v", err, want)
			}
		}
	}
	refusedStripe := func(t *testing.T, stores []segment.Store, config segment.StripeConfig, want string) {
		t.Helper()
		s, err := segment.Stripe(t.Context(), stores, "orders", config)
		if !errors.Is(err, segment.ErrStripe) || !strings.Contains(err.Error(), want) {
			t.Errorf("Stripe() = %v, %v, want ErrStripe with %q", s, err, want)
		}
	}
	t.Run("New first", func(t *testing.T) {
		for at := range 2 {
			counters, stores := stripes(2)
			take(t, open(t, stores[at], segment.Config{}), 1, 5)
			refusedStripe(t, stores, create, "segment.Split")
			refusedStripe(t, stores, segment.StripeConfig{}, "segment.Split")
			for i, c := range counters {
				if all, _ := c.List(t.Context()); i == at && len(all) != 1 || i != at && len(all) != 0 {
					t.Errorf("store %d has %+v: a start that was refused made a counter", i, all)
				}
			}
		}
	})
	t.Run("Stripe first", func(t *testing.T) {
		counters, stores := stripes(2)
		stripe(t, stores, create)
		for i, c := range counters {
			refusedNew(t, stores[i], segment.Config{}, segment.ErrStripe)
			refusedNew(t, stores[i], segment.Config{Create: true}, segment.ErrStripe)
			// A process that does not look finds a counter without ids.
			refusedNew(t, unaware{&uneven{counter: c}}, segment.Config{Create: true}, segment.ErrUsedUp)
		}
		stripe(t, stores, create)
	})
	t.Run("counters that an operator made", func(t *testing.T) {
		counters, stores := stripes(2)
		for i, c := range counters {
			if err := c.Create(t.Context(), fmt.Sprintf("orders %d/2 x1000", i+1), 1, 10); err != nil {
				t.Fatal(err)
			}
		}
		stripe(t, stores, segment.StripeConfig{})
		refusedNew(t, stores[1], segment.Config{Create: true}, segment.ErrStripe)
		if err := counters[1].Create(t.Context(), "orders", 1, 10); err != nil {
			t.Fatal(err)
		}
		refusedNew(t, stores[1], segment.Config{}, segment.ErrStripe)
		refusedStripe(t, stores, segment.StripeConfig{}, "segment.Split")
	})
	t.Run("a spent counter alone", func(t *testing.T) { // whose ids are in use
		counters, stores := stripes(2)
		if err := counters[0].Create(t.Context(), "orders", math.MaxInt64, 10); err != nil {
			t.Fatal(err)
		}
		refusedStripe(t, stores, create, "above the highest id")
	})
	t.Run("a tag of Stripe's", func(t *testing.T) {
		_, stores := stripes(1)
		if _, err := segment.Stripe(t.Context(), stores, "orders 1/2 x10", create); !errors.Is(err, segment.ErrTag) {
			t.Errorf("Stripe() = %v, want ErrTag", err)
		}
		if _, err := openTags(t, stores[0], segment.TagsConfig{Config: create.Config}).Next(t.Context(), "orders 1/2 x10"); !errors.Is(err, segment.ErrTag) {
			t.Errorf("Next() = %v, want ErrTag", err)
		}
	})
	t.Run("another tag", func(t *testing.T) {
		_, stores := stripes(2)
		stripe(t, stores, create)
		if gen, err := segment.New(t.Context(), stores[0], "order", create.Config); err != nil {
			t.Errorf("New() = %v", err)
		} else {
			_ = gen.Close()
		}
	})
}

// The same if both start at once, and if New does not look.
func TestNewRacesStripe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		won := map[string]int{}
		for round := range 600 {
			all, stores := unevenStores(2)
			var single segment.Store = all[round%2]
			if round%3 == 0 {
				single = unaware{all[round%2]}
			}
			config := segment.Config{Create: true}
			var gen *segment.Generator
			var striped *segment.Striped
			var starts sync.WaitGroup
			starts.Go(func() {
				time.Sleep(rand.N(6 * time.Millisecond))
				gen, _ = segment.New(t.Context(), single, "orders", config)
			})
			starts.Go(func() {
				time.Sleep(rand.N(6 * time.Millisecond))
				striped, _ = segment.Stripe(t.Context(), stores, "orders", segment.StripeConfig{Config: config})
			})
			starts.Wait()
			if gen != nil && striped != nil {
				t.Fatalf("round %d: both New and Stripe make ids", round)
			}
			if gen != nil {
				won["New"]++
				_ = gen.Close()
			}
			if striped != nil {
				won["Stripe"]++
				_ = striped.Close()
			}
		}
		if won["New"] < 50 || won["Stripe"] < 50 {
			t.Errorf("starts that succeeded: %v, want both kinds", won)
		}
	})
}

// Many processes start with Stripe and Create at once, and none is refused.
func TestStripesStartTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			_, stores := unevenStores(3)
			var starts sync.WaitGroup
			for range 5 {
				starts.Go(func() { stripe(t, stores, segment.StripeConfig{Config: segment.Config{Create: true}}) })
			}
			starts.Wait()
		}
	})
}

// Processes with New draw while Split changes their tag, and go on to the end of what
// they reserved. Then processes with Stripe draw. No id repeats.
func TestSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, stores := unevenStores(3)
		seen := map[uid.ID]bool{}
		var mu sync.Mutex
		use := func(id uid.ID) {
			mu.Lock()
			defer mu.Unlock()
			if seen[id] {
				t.Errorf("id %d was issued twice", id)
			}
			seen[id] = true
		}
		var drawing sync.WaitGroup
		for i := range 6 {
			gen := open(t, all[1], segment.Config{Step: 3, MaxStep: 3})
			drawing.Go(func() {
				for n := 0; ; n++ {
					id, err := gen.Next()
					if err != nil {
						if !errors.Is(err, segment.ErrUsedUp) {
							t.Errorf("Next() = %v, want ErrUsedUp", err)
						}
						return
					}
					if use(id); i == 0 && n%4 == 0 { // returns, and starts again
						if err := gen.Close(); err != nil {
							t.Error(err)
						}
						if gen, err = segment.New(t.Context(), all[1], "orders", segment.Config{Step: 3, MaxStep: 3}); err != nil {
							return // Split has begun
						}
					}
					time.Sleep(rand.N(time.Millisecond))
				}
			})
		}
		time.Sleep(time.Second)
		config := segment.StripeConfig{Block: 10, Config: segment.Config{Step: 10}}
		for range 2 { // the second changes nothing
			if err := segment.Split(t.Context(), stores, "orders", config); err != nil {
				t.Fatal(err)
			}
		}
		s := stripe(t, stores, config)
		for range 3000 {
			id, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			use(id)
		}
		drawing.Wait()
		for _, u := range all {
			if gen, err := segment.New(t.Context(), u, "orders", segment.Config{Create: true}); !errors.Is(err, segment.ErrStripe) {
				t.Errorf("New() = %v, %v after Split, want ErrStripe", gen, err)
			}
		}
	})
}

// A Split that fails at any write is done by another. Meanwhile nobody starts wrongly.
func TestSplitFails(t *testing.T) {
	for _, done := range []bool{false, true} {
		for at := int64(1); ; at++ {
			failed := false
			synctest.Test(t, func(t *testing.T) {
				all, stores := unevenStores(2)
				gen := open(t, all[0], segment.Config{Step: 7, MaxStep: 7})
				take(t, gen, 1, 100)
				if err := gen.Close(); err != nil {
					t.Fatal(err)
				}
				left := new(atomic.Int64)
				left.Store(at)
				for _, u := range all {
					u.left, u.done = left, done
				}
				config := segment.StripeConfig{Config: segment.Config{Create: true}}
				if err := segment.Split(t.Context(), stores, "orders", config); err != nil {
					failed = true
					// What was made so far belongs to the block that was given.
					made, _ := all[0].counter.List(t.Context())
					if other := (segment.StripeConfig{Config: config.Config, Block: 5}); len(made) > 1 {
						if err := segment.Split(t.Context(), stores, "orders", other); !errors.Is(err, segment.ErrStripe) {
							t.Errorf("write %d: Split() = %v with another block, want ErrStripe", at, err)
						}
					}
					if s, err := segment.Stripe(t.Context(), stores, "orders", config); err == nil {
						if id, err := s.Next(); id <= 100 {
							t.Errorf("write %d: Next() = %d, %v, want ids above 100", at, id, err)
						}
						_ = s.Close()
					}
					if err := segment.Split(t.Context(), stores, "orders", config); err != nil {
						t.Fatalf("write %d: Split() = %v again", at, err)
					}
				}
				s := stripe(t, stores, config)
				for range 100 {
					if id, err := s.Next(); id <= 100 || id > 10_000 || err != nil {
						t.Fatalf("write %d: Next() = %d, %v, want ids soon above 100", at, id, err)
					}
				}
			})
			if !failed {
				if at < 5 {
					t.Errorf("Split made %d writes", at-1)
				}
				break
			}
		}
	}
}

// busy is a store where another process reserves ids just before a counter is raised.
type busy struct {
	*counter
	reserved error
}

func (b *busy) Raise(ctx context.Context, tag string, next int64) (int64, error) {
	if tag == "orders" {
		_, _, b.reserved = b.Reserve(ctx, tag, 5)
	}
	return b.counter.Raise(ctx, tag, next)
}

// From when the counter is spent, nobody reserves an id of it.
func TestSplitSpendsAtOnce(t *testing.T) {
	store := &busy{counter: new(counter)}
	take(t, open(t, store, segment.Config{}), 1, 5)
	if err := segment.Split(t.Context(), []segment.Store{store}, "orders", segment.StripeConfig{}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(store.reserved, segment.ErrUsedUp) {
		t.Errorf("Reserve() = %v amid Split, want ErrUsedUp", store.reserved)
	}
}

// What cannot be split is an error.
func TestSplitRefused(t *testing.T) {
	_, stores := stripes(2)
	for _, c := range []struct {
		stores []segment.Store
		tag    string
		want   error
	}{
		{stores, "orders", segment.ErrUnknownTag},
		{stores, "orders 1/2 x1000", segment.ErrTag},
		{nil, "orders", segment.ErrConfig},
		{[]segment.Store{plain{stores[0]}}, "orders", segment.ErrConfig},
	} {
		if err := segment.Split(t.Context(), c.stores, c.tag, segment.StripeConfig{}); !errors.Is(err, c.want) {
			t.Errorf("Split(%q) = %v, want %v", c.tag, err, c.want)
		}
	}
	take(t, open(t, stores[0], segment.Config{}), 1, 5)
	if err := segment.Split(t.Context(), stores, "orders", segment.StripeConfig{}); err != nil {
		t.Fatal(err)
	}
	if err := segment.Split(t.Context(), stores, "orders", segment.StripeConfig{Block: 5}); !errors.Is(err, segment.ErrStripe) {
		t.Errorf("Split() = %v with another block, want ErrStripe", err)
	}
}
