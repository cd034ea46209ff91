package segment_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// unaware is a store through which New does not see the counters of Striped.
type unaware struct{ *counter }

func (unaware) List() {}

// unevenStores returns stores whose requests take up to 3 ms.
func unevenStores(n int) (all []*counter, stores []segment.Store) {
	all, stores = stripes(n)
	for _, c := range all {
		c.around = func(_ context.Context, _ string, do func() error) error {
			time.Sleep(rand.N(3 * time.Millisecond))
			return do()
		}
	}
	return all, stores
}

// New and Striped never both make ids of a tag, whichever starts first, with Create or
// with counters that an operator made, in any of the stores.
func TestNewBesideStripe(t *testing.T) {
	create := segment.StripedConfig{Config: segment.Config{Create: true}}
	refusedNew := func(t *testing.T, store segment.Store, config segment.Config, want error) {
		t.Helper()
		_, err := segment.New(t.Context(), store, "orders", config)
		_, tagged := openTags(t, store, segment.TagsConfig{Config: config}).Next(t.Context(), "orders")
		wantErr(t, err, want)
		wantErr(t, tagged, want)
	}
	t.Run("New first", func(t *testing.T) {
		for at := range 2 {
			counters, stores := stripes(2)
			take(t, open(t, stores[at], segment.Config{}), 1, 5)
			refused(t, stores, create, uid.ErrConfig, "for New or Tags")
			refused(t, stores, segment.StripedConfig{}, uid.ErrConfig, "for New or Tags")
			for i, c := range counters {
				if all, _ := c.List(t.Context()); i == at && len(all) != 1 || i != at && len(all) != 0 {
					t.Errorf("store %d has %+v: a start that was refused made a counter", i, all)
				}
			}
		}
	})
	t.Run("Striped first", func(t *testing.T) {
		counters, stores := stripes(2)
		stripe(t, stores, create)
		for i, c := range counters {
			refusedNew(t, stores[i], segment.Config{}, uid.ErrConfig)
			refusedNew(t, stores[i], segment.Config{Create: true}, uid.ErrConfig)
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
		stripe(t, stores, segment.StripedConfig{})
		refusedNew(t, stores[1], segment.Config{Create: true}, uid.ErrConfig)
		must(t, counters[1].Create(t.Context(), "orders", 1, 10))
		refusedNew(t, stores[1], segment.Config{}, uid.ErrConfig)
		refused(t, stores, segment.StripedConfig{}, uid.ErrConfig, "for New or Tags")
	})
	t.Run("a spent counter alone", func(t *testing.T) { // whose ids are in use
		counters, stores := stripes(2)
		must(t, counters[0].Create(t.Context(), "orders", math.MaxInt64, 10))
		refused(t, stores, create, uid.ErrConfig, "above the highest id")
	})
	t.Run("a tag of Striped's", func(t *testing.T) {
		_, stores := stripes(1)
		_, err := segment.NewStriped(t.Context(), stores, "orders 1/2 x10", create)
		wantErr(t, err, segment.ErrUnknownTag)
		_, err = openTags(t, stores[0], segment.TagsConfig{Config: create.Config}).Next(t.Context(), "orders 1/2 x10")
		wantErr(t, err, segment.ErrUnknownTag)
	})
	t.Run("another tag", func(t *testing.T) {
		_, stores := stripes(2)
		stripe(t, stores, create)
		gen, err := segment.New(t.Context(), stores[0], "order", create.Config)
		must(t, err)
		must(t, gen.Close())
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
			var gen *segment.Counter
			var striped *segment.Striped
			var starts sync.WaitGroup
			starts.Go(func() {
				time.Sleep(rand.N(6 * time.Millisecond))
				gen, _ = segment.New(t.Context(), single, "orders", config)
			})
			starts.Go(func() {
				time.Sleep(rand.N(6 * time.Millisecond))
				striped, _ = segment.NewStriped(t.Context(), stores, "orders", segment.StripedConfig{Config: config})
			})
			starts.Wait()
			if gen != nil && striped != nil {
				t.Fatalf("round %d: both New and Striped make ids", round)
			}
			if gen != nil {
				won["New"]++
				_ = gen.Close()
			}
			if striped != nil {
				won["Striped"]++
				_ = striped.Close()
			}
		}
		if won["New"] < 50 || won["Striped"] < 50 {
			t.Errorf("starts that succeeded: %v, want both kinds", won)
		}
	})
}

// Many processes start with Striped and Create at once, and none is refused.
func TestStripesStartTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			_, stores := unevenStores(3)
			var starts sync.WaitGroup
			for range 5 {
				starts.Go(func() { stripe(t, stores, segment.StripedConfig{Config: segment.Config{Create: true}}) })
			}
			starts.Wait()
		}
	})
}
