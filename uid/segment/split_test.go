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
type unaware struct{ *counter }

func (unaware) List() {}

// unevenStores returns stores whose requests take up to 3 ms. Of their writes, the one that
// left counts down to fails, and is done or not.
func unevenStores(n int, left *atomic.Int64, done bool) (all []*counter, stores []segment.Store) {
	all, stores = stripes(n)
	for _, c := range all {
		c.around = func(_ context.Context, method string, do func() error) error {
			time.Sleep(rand.N(3 * time.Millisecond))
			if method == "List" || method == "Return" || left.Add(-1) != 0 {
				return do()
			}
			if done {
				_ = do()
			}
			return errUnavailable
		}
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
			refusedNew(t, unaware{c}, segment.Config{Create: true}, segment.ErrUsedUp)
		}
		stripe(t, stores, create)
	})
	t.Run("counters that an operator made", func(t *testing.T) {
		counters, stores := stripes(2)
		for i, c := range counters {
			must(t, c.Create(t.Context(), fmt.Sprintf("orders %d/2 x1000", i+1), 1, 10))
		}
		stripe(t, stores, segment.StripeConfig{})
		refusedNew(t, stores[1], segment.Config{Create: true}, segment.ErrStripe)
		must(t, counters[1].Create(t.Context(), "orders", 1, 10))
		refusedNew(t, stores[1], segment.Config{}, segment.ErrStripe)
		refusedStripe(t, stores, segment.StripeConfig{}, "segment.Split")
	})
	t.Run("a spent counter alone", func(t *testing.T) { // whose ids are in use
		counters, stores := stripes(2)
		must(t, counters[0].Create(t.Context(), "orders", math.MaxInt64, 10))
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
			all, stores := unevenStores(2, new(atomic.Int64), false)
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
			_, stores := unevenStores(3, new(atomic.Int64), false)
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
		all, stores := unevenStores(3, new(atomic.Int64), false)
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
			must(t, segment.Split(t.Context(), stores, "orders", config))
		}
		s := stripe(t, stores, config)
		for range 3000 {
			id, err := s.Next()
			must(t, err)
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
				left := new(atomic.Int64)
				all, stores := unevenStores(2, left, done)
				gen := open(t, all[0], segment.Config{Step: 7, MaxStep: 7})
				take(t, gen, 1, 100)
				must(t, gen.Close())
				left.Store(at)
				config := segment.StripeConfig{Config: segment.Config{Create: true}}
				if err := segment.Split(t.Context(), stores, "orders", config); err != nil {
					failed = true
					// What was made so far belongs to the block that was given.
					made, _ := all[0].List(t.Context())
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

// From when the counter is spent, nobody reserves an id of it.
func TestSplitSpendsAtOnce(t *testing.T) {
	store := new(counter)
	var reserved error
	store.around = func(ctx context.Context, method string, do func() error) error {
		if method == "Raise" { // another process is faster
			_, _, reserved = store.Memory.Reserve(ctx, "orders", 5)
		}
		return do()
	}
	take(t, open(t, store, segment.Config{}), 1, 5)
	must(t, segment.Split(t.Context(), []segment.Store{store}, "orders", segment.StripeConfig{}))
	if !errors.Is(reserved, segment.ErrUsedUp) {
		t.Errorf("Reserve() = %v amid Split, want ErrUsedUp", reserved)
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
	must(t, segment.Split(t.Context(), stores, "orders", segment.StripeConfig{}))
	if err := segment.Split(t.Context(), stores, "orders", segment.StripeConfig{Block: 5}); !errors.Is(err, segment.ErrStripe) {
		t.Errorf("Split() = %v with another block, want ErrStripe", err)
	}
}
