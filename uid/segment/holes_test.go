package segment_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid/segment"
)

// drawing is a log handler that draws ids.
type drawing struct {
	slog.Handler
	draw func()
}

func (d drawing) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "segment: started" { // New has not returned yet
		d.draw()
	}
	return nil
}

// A log handler may draw from the generator, and wait for it: nothing waits for the
// handler but Close.
func TestHandlerDrawsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		var g *segment.Generator
		lines := 0
		g = open(t, store, segment.Config{Step: 10, MaxStep: 10, Logger: slog.New(drawing{slog.NewTextHandler(t.Output(), nil), func() {
			lines++
			if _, err := g.Wait(t.Context()); err != nil {
				t.Errorf("Wait() = %v in the handler", err)
			}
		}})})
		store.unavailable.Store(true)
		for id, err := g.Next(); err == nil; id, err = g.Next() {
			if id > 100 {
				t.Fatal("ids go on without the store")
			}
		}
		time.Sleep(time.Minute)
		store.unavailable.Store(false)
		if _, err := g.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := g.Close(); err != nil || lines != 2 {
			t.Errorf("Close() = %v after %d lines, want 2", err, lines)
		}
	})
}

// The end of a caller's context is no failure of the store.
func TestGivingUpIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		g := open(t, store, segment.Config{Step: 10, MaxStep: 10})
		store.takes.Store(int64(3 * time.Second))
		take(t, g, 1, 10)
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if id, err := g.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Wait() = %d, %v, want the end of its context", id, err)
			}
			cancel()
		}
		if s := g.Stats(); s.Loads.Failures != 0 || s.LastError != nil {
			t.Errorf("%d failures, the last %v", s.Loads.Failures, s.LastError)
		}
		take(t, g, 11, 10)
	})
}

// rude is a store that ends with its context, and says something else.
type rude struct{}

func (rude) Reserve(ctx context.Context, _ string, _ int64) (int64, int64, error) {
	<-ctx.Done()
	return 0, 0, errUnavailable
}

func (rude) String() string { return "rude" }

// The error of a load that timed out says so, whatever the store's client calls it.
func TestTimeOutIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := segment.New(t.Context(), rude{}, "orders", segment.Config{})
		if !errors.Is(err, segment.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errUnavailable) {
			t.Errorf("New() = %v, want ErrUnavailable, DeadlineExceeded and the client's error", err)
		}
	})
}

// A short range too is used in part before the next is loaded.
func TestShortRangeIsNotLoadedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		g := open(t, store, segment.Config{Step: 5, MaxStep: 5})
		if synctest.Wait(); store.requests.Load() != 1 {
			t.Errorf("%d requests before an id was drawn, want 1", store.requests.Load())
		}
		take(t, g, 1, 2)
		if synctest.Wait(); store.requests.Load() != 2 {
			t.Errorf("%d requests, want a second", store.requests.Load())
		}
	})
}

// No counter is raised below 1.
func TestNextForZero(t *testing.T) {
	for _, tag := range []string{"orders", "orders 2/3 x10"} {
		if next := segment.NextFor(tag, 0); next != 1 {
			t.Errorf("NextFor(%q, 0) = %d, want 1", tag, next)
		}
	}
}

// The greatest block is 2^40.
func TestGreatestBlock(t *testing.T) {
	for _, c := range []struct {
		block int64
		want  error
	}{{segment.GreatestStep, nil}, {segment.GreatestStep + 1, segment.ErrConfig}} {
		_, stores := stripes(2)
		s, err := segment.Stripe(t.Context(), stores, "orders", segment.StripeConfig{Block: c.block, Config: segment.Config{Create: true}})
		if !errors.Is(err, c.want) {
			t.Errorf("Stripe() = %v with a block of %d, want %v", err, c.block, c.want)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}

// A store that answers that it has no such stripe fails the start, whatever else it says.
func TestStripeElsewhere(t *testing.T) {
	good, bad := new(counter), &unusable{Memory: &new(counter).Memory, why: errors.Join(segment.ErrUnusable, segment.ErrStripe)}
	bad.broken.Store(true)
	s, err := segment.Stripe(t.Context(), []segment.Store{good, bad}, "orders", segment.StripeConfig{Config: segment.Config{Create: true}})
	if !errors.Is(err, segment.ErrStripe) {
		t.Errorf("Stripe() = %v, %v, want ErrStripe", s, err)
	}
}

// A store whose counter cannot be used holds up no start while another has ids.
func TestStripeBesideAnUnusableCounter(t *testing.T) {
	good, bad := new(counter), &unusable{Memory: &new(counter).Memory, why: segment.ErrUnusable}
	bad.broken.Store(true)
	s := stripe(t, []segment.Store{good, bad}, segment.StripeConfig{Config: segment.Config{Create: true}})
	if id, err := s.Next(); id != 1 || err != nil || !errors.Is(s.Stats()[1].LastError, segment.ErrUnusable) {
		t.Errorf("Next() = %d, %v, and the other store's error is %v", id, err, s.Stats()[1].LastError)
	}
}

// Close waits for a store that is being opened, and returns what it reserved. Afterwards
// no request is under way.
func TestStripeCloseDuringAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, stores := stripes(2)
		counters[1].unavailable.Store(true)
		s := stripe(t, stores, segment.StripeConfig{Config: segment.Config{Create: true}})
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
		now, err := counters[1].Memory.Raise(t.Context(), fmt.Sprintf("orders %d/2 x1000", 2), 0)
		if now != 1 || err != nil {
			t.Errorf("the counter is %d, %v after Close, want 1", now, err)
		}
		time.Sleep(time.Hour)
	})
}
