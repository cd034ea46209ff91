package uid_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// A machine may pause for longer than MaxAge between any two readings of the clock:
// each call gets an id anyway.
func TestPausesMakeNoIdTooOld(t *testing.T) {
	clock := clockAt(start)
	layout := small
	layout.Unit, layout.TimeBits = time.Millisecond, 41
	gen := newCached(t, uid.CachedConfig{Layout: layout, BoostPower: 1, MaxAge: uid.MinMaxAge, Now: func() time.Time {
		clock.step(uid.MinMaxAge + time.Millisecond)
		return clock.now()
	}})
	for n := range 1000 {
		call := []string{"Next", "Wait"}[n%2]
		if got, err := calls[call](t.Context(), gen, make([]uid.ID, 1)); got != 1 || err != nil {
			t.Fatalf("call %d: %s() = %v", n, call, err)
		}
	}
}

// However slowly ids are drawn, no id's tick ended more than MaxAge ago, nor does it
// begin further ahead than the ring's ticks.
func TestIdsAreFresh(t *testing.T) {
	for _, test := range []struct {
		name          string
		config        uid.CachedConfig
		every, maxAge time.Duration
		fresh         bool
		over          time.Duration
		perDraw       int
	}{
		{"an id a second", uid.CachedConfig{}, time.Second, time.Minute, true, 6 * time.Hour, 1},
		{"an id in five minutes", uid.CachedConfig{}, 5 * time.Minute, time.Minute, true, 6 * time.Hour, 1},
		{"an id in 17 seconds", uid.CachedConfig{}, 17 * time.Second, time.Minute, true, 24 * time.Hour, 1},
		{"bursts", uid.CachedConfig{}, 41 * time.Second, time.Minute, true, 24 * time.Hour, 5000},
		{"a second", uid.CachedConfig{MaxAge: time.Second}, 170 * time.Millisecond, time.Second, true, 5 * time.Minute, 1},
		{"10 milliseconds", uid.CachedConfig{MaxAge: uid.MinMaxAge}, 333 * time.Millisecond, uid.MinMaxAge, true, 5 * time.Minute, 1},
		{"for ever", uid.CachedConfig{MaxAge: uid.Unlimited}, time.Second, time.Minute, false, time.Hour, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.config.Layout = virtual
				gen := newCached(t, test.config)
				ids := make([]uid.ID, test.perDraw)
				oldest, greatest := time.Duration(0), uid.ID(0)
				for range test.over / test.every {
					time.Sleep(test.every)
					if n, err := gen.NextN(ids); n != len(ids) || err != nil {
						t.Fatalf("NextN() = %d, %v", n, err)
					}
					oldest = max(oldest, time.Since(parsed(t, gen, ids[0]).Time.Add(time.Second)))
					if ahead := time.Until(parsed(t, gen, ids[len(ids)-1]).Time); ahead > 8*time.Second || ids[0] <= greatest {
						t.Fatalf("id %d after %d, whose tick begins %v from now, want at most the ring's 8 ticks", ids[0], greatest, ahead)
					}
					greatest = ids[len(ids)-1]
				}
				if (oldest <= test.maxAge) != test.fresh {
					t.Errorf("an id's tick had ended %v ago, with MaxAge %v", oldest, gen.Stats().Ring.MaxAge)
				}
			})
		})
	}
}

// An idle generator reads the clock some hundred times an hour, and makes no more
// ticks than pass.
func TestIdlingIsCheap(t *testing.T) {
	for maxAge, most := range map[time.Duration]int64{0: 1500, -1: 20} {
		synctest.Test(t, func(t *testing.T) {
			var readings atomic.Int64
			gen := newCached(t, uid.CachedConfig{Layout: virtual, MaxAge: maxAge, Now: func() time.Time { readings.Add(1); return time.Now() }})
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if got := readings.Load() / 24; got > most {
				t.Errorf("the clock was read %d times an hour, want at most %d", got, most)
			}
			if made := gen.Stats().Dropped / (1 << 13) / 24; made > 600 {
				t.Errorf("%d ticks dropped an hour, want at most 600", made)
			}
		})
	}
}

// After the clock was beyond the layout's end, the ring is filled again though nobody asks for an id: a server that
// reports this failure gets no requests.
func TestClockBackFromBeyondEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		layout := bits.Fleet()
		layout.Epoch = now()
		gen, err := uid.NewCached(t.Context(), lease.NewStatic(1), uid.CachedConfig{Layout: layout, Now: now})
		need.Must(t, err)
		defer gen.Close()
		ahead.Store(int64(100 * 365 * 24 * time.Hour))
		time.Sleep(time.Minute)
		need.Error(t, gen.Stats().LastError, uid.ErrTimeExhausted)
		ahead.Store(0)
		time.Sleep(uid.DefaultMaxAge)
		if s := gen.Stats(); s.Failing() || s.Remaining == 0 {
			t.Errorf("%d ids, %v", s.Remaining, s.LastError)
		}
	})
}
