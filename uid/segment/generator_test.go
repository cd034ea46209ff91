package segment_test

import (
	"fmt"
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

// A process that is killed returns nothing. 1,000 kills leave gaps, of two ranges at most,
// and no repeat.
func TestKillsLeaveGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, last := new(segmenttest.Memory), uid.ID(0)
		must(t, store.Create(t.Context(), "orders", 1, 10))
		for i := range 1000 {
			g, err := segment.New(t.Context(), plain{store}, "orders", segment.Config{Step: 10, MaxStep: 10})
			must(t, err)
			for range 1 + i%37 {
				id, err := g.Next()
				if err != nil || id <= last || id > last+21 {
					t.Fatalf("Next() = %d, %v after %d", id, err, last)
				}
				last = id
			}
			_ = g.Close()
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
