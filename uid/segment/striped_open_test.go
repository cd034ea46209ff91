package segment_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// The next id of a counter is the one that its store issues. No generator makes ids of
// the counter itself: those are other stores' ids.
func TestStripeCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(3)
		config := segment.StripedConfig{Block: 10, Config: segment.Config{Create: true, Step: 3, MaxStep: 3}}
		for least := int64(1); least < 2000; least += 97 {
			for i, store := range counters {
				tag := fmt.Sprintf("orders %d/3 x10", i+1)
				if err := store.Create(t.Context(), tag, 1, 3); err != nil && !errors.Is(err, segment.ErrTagExists) {
					t.Fatal(err)
				}
				_, err := store.Raise(t.Context(), tag, segment.NextFor(tag, least))
				must(t, err)
				all, err := store.List(t.Context())
				must(t, err)
				next := all[len(all)-1].NextID() // which follows "orders" from the second round on
				if next < least || next > least+30 || next/10%3 != int64(i) {
					t.Errorf("%q raised to %d: its next id is %d", tag, least, next)
				}
				_, err = segment.New(t.Context(), store, tag, segment.Config{})
				wantErr(t, err, segment.ErrUnknownTag)
			}
			s := stripe(t, stores, config)
			for range 12 {
				if id, err := s.Next(); int64(id) < least || err != nil {
					t.Errorf("Next() = %d, %v above %d", id, err, least)
				}
			}
			must(t, s.Close())
		}
	})
	if id := (segment.CounterInfo{Tag: "orders 2/3 x10", Next: math.MaxInt64 - 1}).NextID(); id != math.MaxInt64 {
		t.Errorf("the next id of a counter that is used up is %d", id)
	}
	if next := segment.NextFor("orders 2/3 x10", 0); next != 1 {
		t.Errorf("the count of id 0 is %d, want 1, as no counter is lower", next)
	}
	for _, tag := range []string{"orders", "orders 1/3", "orders 0/3 x10", "orders 4/3 x10", "orders 1/3 x0", "orders 01/3 x10", "orders 1/3 x10 ", "1/3 x10", "a b"} {
		if next := segment.NextFor(tag, 77); next != 77 || (segment.CounterInfo{Tag: tag, Next: 77}).NextID() != 77 {
			t.Errorf("%q is taken for a striped counter: %d", tag, next)
		}
	}
}

// A store that hangs holds a start up for the time of a load.
func TestStripeStartsBesideAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		must(t, stripe(t, stores, segment.StripedConfig{Config: segment.Config{Create: true}}).Close())
		counters[1].around = func(ctx context.Context, method string, do func() error) error {
			if method == "List" {
				<-ctx.Done()
				return ctx.Err()
			}
			return do()
		}
		began := time.Now()
		s := stripe(t, stores, segment.StripedConfig{})
		if took := time.Since(began); took != segment.DefaultLoadTimeout {
			t.Errorf("the start took %v, want %v", took, segment.DefaultLoadTimeout)
		}
		if id, err := s.Next(); id != 1 || err != nil || !errors.Is(s.Stores()[1].LastError, uid.ErrUnavailable) {
			t.Errorf("Next() = %d, %v, and the other store's error is %v", id, err, s.Stores()[1].LastError)
		}
	})
}

// A store that is used up, or has gone back, holds up no start while another has ids. Its
// error is its own.
func TestStripeStartsBesideAnEmptyStore(t *testing.T) {
	for _, want := range []error{segment.ErrUsedUp, uid.ErrRewound} {
		synctest.Test(t, func(t *testing.T) {
			first, second := new(counter), new(counter)
			if want == uid.ErrRewound {
				first.says.Store(&want)
			}
			must(t, first.Create(t.Context(), "orders 1/2 x10", 21, 5)) // its end
			must(t, second.Create(t.Context(), "orders 2/2 x10", 1, 5))
			config := segment.StripedConfig{Block: 10, Config: segment.Config{Limit: 40}}
			s := stripe(t, []segment.Store{first, second}, config)
			ids := make([]uid.ID, 20)
			if n, err := s.NextN(ids); n != 19 || ids[0] != 11 || ids[18] != 39 || !errors.Is(err, want) {
				t.Errorf("NextN() = %d, %v: %v, want 11 to 39 of the second, and %v", n, err, ids, want)
			}
			if err := s.Stores()[0].LastError; !errors.Is(err, want) || errors.Is(err, uid.ErrUnavailable) {
				t.Errorf("the first store's error is %v, want %v", err, want)
			}
			refused(t, []segment.Store{first, second}, config, want, "") // without an id
			asked := first.requests.Load()
			time.Sleep(10 * time.Minute)
			if n := first.requests.Load() - asked; n > 11 {
				t.Errorf("%d requests in ten minutes, want one a minute", n)
			}
		})
	}
}

// With Create, a store that is not reached at the start gets both counters later. So New
// cannot use the tag there either.
func TestStripeCreatesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		counters[1].all = true
		counters[1].unavailable.Store(true)
		config := segment.StripedConfig{Config: segment.Config{Create: true}}
		s := stripe(t, stores, config)
		if s.Stores()[1].LastError == nil {
			t.Fatal("both stores were reached")
		}
		counters[1].unavailable.Store(false)
		time.Sleep(5 * time.Second)
		all, err := counters[1].List(t.Context())
		if err != nil || len(all) != 2 || all[0].Tag != "orders" || all[0].Next != math.MaxInt64 || all[1].Tag != "orders 2/2 x1000" {
			t.Errorf("the store has %+v, %v, want the tag spent beside the stripe", all, err)
		}
		_, err = segment.New(t.Context(), stores[1], "orders", config.Config)
		wantErr(t, err, uid.ErrConfig)
	})
}

// A store that is not reached at the start is opened later, unless it then has a counter
// whose ids would repeat.
func TestStripeReopensNoForeignCounter(t *testing.T) {
	for foreign, want := range map[string]error{"orders": uid.ErrConfig, "orders 2/2 x500": uid.ErrConfig, "orders 2/3 x1000": uid.ErrConfig, "users": nil} {
		synctest.Test(t, func(t *testing.T) {
			counters, stores := stripes(2)
			for i, c := range counters {
				must(t, c.Create(t.Context(), fmt.Sprintf("orders %d/2 x1000", i+1), 1, 10))
			}
			counters[1].all = true
			counters[1].unavailable.Store(true)
			s := stripe(t, stores, segment.StripedConfig{})
			must(t, counters[1].Memory.Create(t.Context(), foreign, 1, 10))
			counters[1].unavailable.Store(false)
			time.Sleep(5 * time.Second)
			if got := s.Stores()[1]; !errors.Is(got.LastError, want) || got.Loads.Requests > 0 != (want == nil) {
				t.Errorf("beside %q: %v after %d loads, want %v", foreign, got.LastError, got.Loads.Requests, want)
			}
		})
	}
}

// A store that answers that it has no such stripe fails the start, whatever else it says. One
// whose counter cannot be used holds up no start while another has ids.
func TestStripeBesideAnUnusableCounter(t *testing.T) {
	_, stores := stripes(1)
	bad := new(counter)
	config := segment.StripedConfig{Config: segment.Config{Create: true}}
	elsewhere := errors.Join(segment.ErrUnusable, uid.ErrConfig)
	bad.says.Store(&elsewhere)
	refused(t, append(stores, bad), config, uid.ErrConfig, "")
	bad.says.Store(&segment.ErrUnusable)
	s := stripe(t, append(stores, bad), config)
	if id, err := s.Next(); id != 1 || err != nil || !errors.Is(s.Stores()[1].LastError, segment.ErrUnusable) {
		t.Errorf("Next() = %d, %v, and the other store's error is %v", id, err, s.Stores()[1].LastError)
	}
}

// Close waits for a store that is being opened, and returns what it reserved. Afterwards
// no request is under way.
func TestStripeCloseDuringAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		counters[1].unavailable.Store(true)
		s := stripe(t, stores, segment.StripedConfig{Config: segment.Config{Create: true}})
		counters[1].unavailable.Store(false)
		counters[1].deaf.Store(true)
		counters[1].takes.Store(int64(500 * time.Millisecond))
		before := counters[1].requests.Load()
		for counters[1].requests.Load() == before {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		if err := s.Close(); err != nil || time.Since(began) < 900*time.Millisecond {
			t.Errorf("Close() = %v after %v, want it to wait for Reserve and Return", err, time.Since(began))
		}
		now, err := counters[1].Memory.Raise(t.Context(), "orders 2/2 x1000", 0)
		if now != 1 || err != nil {
			t.Errorf("the counter is %d, %v after Close, want 1", now, err)
		}
		time.Sleep(time.Hour)
	})
}
