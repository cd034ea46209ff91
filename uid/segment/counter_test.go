package segment_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

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
		near("step then", g.Stats().Loads.LastSize, 55_000, 65_000)
		near("writes in the hour of the burst", run(1, 100_000), 6, 15)
		near("step then", g.Stats().Loads.LastSize, 55_000_000, 65_000_000)
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
