package segment_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// stripes returns n stores.
func stripes(n int) (counters []*counter, stores []segment.Store) {
	for range n {
		c := new(counter)
		counters, stores = append(counters, c), append(stores, c)
	}
	return counters, stores
}

func stripe(t *testing.T, stores []segment.Store, config segment.StripedConfig) *segment.Striped {
	t.Helper()
	s, err := segment.NewStriped(t.Context(), stores, "orders", config)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// refused wants that NewStriped fails as wantErr has it.
func refused(t *testing.T, stores []segment.Store, config segment.StripedConfig, want error, text string) {
	t.Helper()
	_, err := segment.NewStriped(t.Context(), stores, "orders", config)
	wantErr(t, err, want, text)
}

// The ids of all stores are one set without repeats. Each store has its own blocks, or
// ids in blocks of 1, and its ids ascend.
func TestStripe(t *testing.T) {
	for _, block := range []uid.ID{1, 7} {
		t.Run(fmt.Sprint(block), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { drawStriped(t, block) })
		})
	}
}

func drawStriped(t *testing.T, block uid.ID) {
	counters, stores := stripes(3)
	for _, c := range counters {
		c.takes.Store(int64(5 * time.Millisecond))
	}
	config := segment.StripedConfig{Block: int64(block), Config: segment.Config{Create: true, Step: 10}}
	var mu sync.Mutex
	seen := map[uid.ID]bool{}
	for range 3 { // starts of two processes
		var takers sync.WaitGroup
		for range 2 {
			s := stripe(t, stores, config)
			takers.Go(func() {
				last := map[uid.ID]uid.ID{}
				ids := make([]uid.ID, 13)
				for range 500 {
					if n, err := s.NextN(ids); n != len(ids) || err != nil {
						t.Errorf("NextN() = %d, %v", n, err)
						return
					}
					mu.Lock()
					for _, id := range ids {
						store := id / block % 3
						if seen[id] || id <= last[store] {
							t.Errorf("id %d of store %d after %d; issued before: %v", id, store, last[store], seen[id])
						}
						seen[id], last[store] = true, id
					}
					mu.Unlock()
					time.Sleep(time.Millisecond)
				}
				if err := s.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
				_, err := s.Next()
				wantErr(t, err, uid.ErrClosed)
			})
		}
		takers.Wait()
	}
	for i, c := range counters {
		next, err := c.Raise(t.Context(), fmt.Sprintf("orders %d/3 x%d", i+1, block), 0)
		if err != nil || next < 5000 {
			t.Errorf("store %d is at %d, %v: want a third of the ids", i, next, err)
		}
	}
}

// A store may be unavailable, at the start too. Ids come from the others, and from it when
// it is back.
func TestStripeWithAStoreUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		config := segment.StripedConfig{Config: segment.Config{Create: true, Step: 10, MaxStep: 100}}
		counters[1].unavailable.Store(true)
		s := stripe(t, stores, config)
		from := func(n int) (used [2]bool) {
			for range n {
				id, err := s.Next()
				must(t, err)
				used[id/1000%2] = true
			}
			return used
		}
		if used := from(5000); !used[0] || used[1] {
			t.Errorf("stores used: %v, want the first", used)
		}
		if stats := s.Stores(); stats[1].LastError == nil || stats[0].LastError != nil || s.Stats().LastError != nil {
			t.Errorf("Stores() = %+v, Stats() = %+v", stats, s.Stats())
		}
		counters[1].unavailable.Store(false)
		time.Sleep(5 * time.Second)
		if used := from(5000); !used[0] || !used[1] {
			t.Errorf("stores used: %v, want both", used)
		}
		counters[0].unavailable.Store(true)
		from(5000)
		if used := from(5000); used[0] || !used[1] {
			t.Errorf("stores used: %v, want the second", used)
		}
		counters[1].unavailable.Store(true)
		var err error
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, uid.ErrUnavailable) || !errors.Is(err, errUnavailable) {
			t.Errorf("Next() = %v with both unavailable, want uid.ErrUnavailable", err)
		}
		counters[0].unavailable.Store(false)
		_, err = s.Wait(t.Context())
		must(t, err)
		counters[0].unavailable.Store(true)
		refused(t, stores, config, uid.ErrUnavailable, "")
	})
}

// Another number of stores, another order or another block finds no counters, and
// makes none.
func TestStripeWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(3)
		create := segment.StripedConfig{Config: segment.Config{Create: true}}
		must(t, stripe(t, stores, create).Close())
		counters[2].around = func(context.Context, string, func() error) error { return errors.New("unavailable") }
		swapped := []segment.Store{stores[1], stores[0], stores[2]}
		refused(t, swapped, create, uid.ErrConfig, "") // beside a store that is unavailable
		counters[2].around = nil
		for _, wrong := range [][]segment.Store{swapped, stores[:2], append(stores[:3:3], new(counter)), {stores[0], stores[0], stores[2]}} {
			for _, config := range []segment.StripedConfig{create, {}} {
				refused(t, wrong, config, uid.ErrConfig, "")
			}
		}
		for _, config := range []segment.StripedConfig{
			{Block: 500, Config: create.Config}, {Block: 500}, {Block: -1}, {Block: segment.MaxStep + 1},
			{Config: segment.Config{Limit: 2999}}, {Config: segment.Config{Step: -1}},
		} {
			refused(t, stores, config, uid.ErrConfig, "")
		}
		must(t, stripe(t, stores, create).Close())
		refused(t, nil, create, uid.ErrConfig, "stores is []")
		refused(t, []segment.Store{plain{new(counter)}}, create, uid.ErrConfig, "cannot list") // it might have counters for another number of stores
	})
}

// The next range is loaded when LoadAt of a range is used, though great blocks fill the ring.
func TestStripeGreatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stores := stripes(1)
		s := stripe(t, stores, segment.StripedConfig{Block: 1 << 37, Config: segment.Config{Create: true, Step: 1 << 40, LoadAt: 12}})
		for issued := int64(0); issued <= 1<<40/100*12+12; {
			if issued < 1<<21 {
				synctest.Wait() // a run follows the first
			}
			run, err := s.Claim(t.Context(), 1<<20)
			must(t, err)
			issued += run.N
		}
		if synctest.Wait(); s.Stores()[0].Loads.Requests != 2 {
			t.Errorf("%d loads, want 2", s.Stores()[0].Loads.Requests)
		}
	})
}

// A store whose load takes long holds up no call while another store has ids.
func TestStripeSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		s := stripe(t, stores, segment.StripedConfig{Config: segment.Config{Create: true, Step: 10, MaxStep: 10, LoadTimeout: 2 * time.Hour}})
		counters[0].takes.Store(int64(time.Hour))
		began, ids := time.Now(), make([]uid.ID, 7)
		for range 500 {
			if n, err := s.NextN(ids); n != len(ids) || err != nil {
				t.Fatalf("NextN() = %d, %v", n, err)
			}
		}
		if took := time.Since(began); took > 500*11*time.Millisecond { // each call looks for the slow store once
			t.Errorf("500 calls took %v", took)
		}
	})
}

// Close ends every wait, of calls that wait for a load and of those that wait for a store.
func TestStripeCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, unavailable := range []bool{false, true} {
			counters, stores := stripes(2)
			s := stripe(t, stores, segment.StripedConfig{Config: segment.Config{Create: true, Step: 5, MaxStep: 5}})
			synctest.Wait()
			for _, c := range counters {
				if c.unavailable.Store(unavailable); !unavailable {
					c.takes.Store(int64(time.Hour))
				}
			}
			ended := make(chan error)
			go func() {
				for _, err := range s.All(context.Background()) {
					if err != nil {
						ended <- err
					}
				}
			}()
			go func() { _, err := s.WaitN(context.Background(), make([]uid.ID, 100)); ended <- err }()
			time.Sleep(time.Minute)
			began := time.Now()
			go s.Close()
			for range 2 {
				if err := <-ended; err != uid.ErrClosed || time.Since(began) > 20*time.Millisecond {
					t.Errorf("a wait ended with %v after %v, want ErrClosed", err, time.Since(began))
				}
			}
		}
	})
}
