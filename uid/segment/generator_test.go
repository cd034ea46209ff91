package segment_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// call is one call of a generator.
type call struct {
	kind  string // Next, Wait, NextN, WaitN, pause or restart
	n     int
	pause time.Duration
}

// A generator does what a mutex and a counter do, through restarts too, whatever
// its ranges are and whatever is asked of it.
func TestLikeAMutexAndACounter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		latency := rapid.Int64Range(0, int64(100*time.Millisecond)).Draw(rt, "latency")
		config := segment.Config{
			Step:   rapid.Int64Range(0, 300).Draw(rt, "Step"),
			LoadAt: rapid.IntRange(1, 99).Draw(rt, "LoadAt"),
			Ahead:  time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "Ahead")),
		}
		config.MaxStep = max(config.Step, rapid.Int64Range(1, 100000).Draw(rt, "MaxStep"))
		calls := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) call {
			return call{
				rapid.SampledFrom([]string{"Next", "Wait", "NextN", "WaitN", "pause", "restart"}).Draw(rt, "call"),
				rapid.IntRange(1, 2000).Draw(rt, "n"),
				time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(rt, "for")),
			}
		})).Draw(rt, "calls")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = compare(t, config, latency, calls) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// compare returns how a generator differs from a counter, if it does.
func compare(t *testing.T, config segment.Config, latency int64, calls []call) string {
	store, want := new(counter), uid.ID(1)
	store.takes.Store(latency)
	g := open(t, store, config)
	for i, c := range calls {
		ids, err := make([]uid.ID, c.n), error(nil)
		switch c.kind {
		case "Next":
			ids = ids[:1]
			ids[0], err = g.Next()
		case "Wait":
			ids = ids[:1]
			ids[0], err = g.Wait(t.Context())
		case "NextN":
			_, err = g.NextN(ids)
		case "WaitN":
			_, err = g.WaitN(t.Context(), ids)
		case "pause":
			ids = nil
			time.Sleep(c.pause)
		case "restart":
			ids, err = nil, g.Close()
			g = open(t, store, config)
		}
		for _, id := range ids {
			if id != want {
				return fmt.Sprintf("call %d, %v: id %d, want %d", i, c, id, want)
			}
			want++
		}
		if err != nil {
			return fmt.Sprintf("call %d, %v: %v", i, c, err)
		}
	}
	if err := g.Close(); err != nil {
		return err.Error()
	}
	if now := store.next(t); now != int64(want) {
		return fmt.Sprintf("the counter is %d at the end, want %d", now, want)
	}
	return ""
}

// A first range may be greater than the default of MaxStep.
func TestGreatStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		take(t, open(t, store, segment.Config{Step: segment.GreatestStep}), 1, 10)
		if next := store.next(t); next != 1+segment.GreatestStep {
			t.Errorf("the counter is %d, want all of the first range reserved", next)
		}
	})
}

// Each of 1,000 starts goes on where the one before ended.
func TestRestartsLeaveNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, want := new(counter), uid.ID(1)
		store.takes.Store(int64(time.Millisecond))
		for i := range 1000 {
			g := open(t, store, segment.Config{Step: 10})
			take(t, g, want, i%37)
			want += uid.ID(i % 37)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// 1,000 kills leave gaps, of two ranges at most, and no repeat.
func TestKillsLeaveGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, last := new(segmenttest.Memory), uid.ID(0)
		for i := range 1000 {
			store := &killable{Store: memory}
			config := segment.Config{Step: 10, MaxStep: 10}
			if i == 0 {
				if err := memory.Create(t.Context(), "orders", 1, 10); err != nil {
					t.Fatal(err)
				}
			}
			g, err := segment.New(t.Context(), store, "orders", config)
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + i%37 {
				id, err := g.Next()
				if err != nil || id <= last || id > last+21 {
					t.Fatalf("Next() = %d, %v after %d", id, err, last)
				}
				last = id
			}
			store.killed = true
			_ = g.Close()
		}
	})
}

// killable is the store of a process that ends without a word.
type killable struct {
	segment.Store
	killed bool
}

func (k *killable) Return(ctx context.Context, tag string, first, next int64) (bool, error) {
	if k.killed {
		return false, nil
	}
	return k.Store.(segment.Returner).Return(ctx, tag, first, next)
}

// The store answers in 50 ms, and the rate jumps from 0 to a million ids a second.
// No call fails.
func TestJumpOfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(50 * time.Millisecond))
		g := open(t, store, segment.Config{})
		time.Sleep(time.Hour)
		began := time.Now()
		var takers sync.WaitGroup
		for range 4 {
			takers.Go(func() {
				for range 2000 {
					for range 250 {
						if _, err := g.Next(); err != nil {
							t.Errorf("Next() = %v", err)
							return
						}
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		takers.Wait()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("2 million ids took %v, want hardly more than 2 s", took)
		}
		if g.Stats().Starved == 0 {
			t.Error("no take found nothing, though loads take 50 ms")
		}
		if loads := g.Stats().Loads.Loads; loads > 10 {
			t.Errorf("%d loads, want 10 at most: missing ranges become one", loads)
		}
	})
}

// A day at 100 ids a second, with an hour at 1,000 times that.
func TestADayWithABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(20 * time.Millisecond))
		g := open(t, store, segment.Config{})
		ids := make([]uid.ID, 100_000)
		run := func(hours int, perSecond int) (writes int64) {
			before := store.requests.Load()
			for range hours * 3600 {
				if n, err := g.WaitN(t.Context(), ids[:perSecond]); n != perSecond || err != nil {
					t.Fatalf("WaitN() = %d, %v", n, err)
				}
				time.Sleep(time.Second)
			}
			return store.requests.Load() - before
		}
		near := func(what string, got, least, most int64) {
			t.Helper()
			if got < least || got > most {
				t.Errorf("%s: %d, want %d to %d", what, got, least, most)
			}
		}
		near("writes in 6 h", run(6, 100), 36, 45) // one in ten minutes, and some to get there
		near("step then", g.Stats().Loads.Step, 55_000, 65_000)
		near("writes in the hour of the burst", run(1, 100_000), 6, 15)
		near("step then", g.Stats().Loads.Step, 55_000_000, 65_000_000)
		near("writes in the rest of the day", run(17, 100), 0, 2) // what is loaded lasts for days
		near("takes that found nothing", g.Stats().Starved, 0, 12)
	})
}

// After a burst, the step shrinks by halves, one a range.
func TestStepShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, new(counter), segment.Config{Step: 100, Ahead: time.Minute})
		next := uid.ID(1)
		draw := func(n int, every time.Duration) {
			for range n {
				take(t, g, next, 1)
				next++
				time.Sleep(every)
			}
		}
		draw(20_000, time.Millisecond)
		grown := g.Stats().Loads.Step
		if grown < 50_000 || grown > 60_000 {
			t.Errorf("the step is %d at 1,000 ids a second, want 60,000", grown)
		}
		for last := grown; last > 200; {
			draw(50, time.Second)
			step := g.Stats().Loads.Step
			if step != last && step != max(100, last/2) {
				t.Fatalf("the step is %d after %d", step, last)
			}
			last = step
		}
	})
}
