package uid_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// dated is an id and when the call that returned it ended.
type dated struct {
	id uid.ID
	at time.Time
}

// ranging is a generator with Range.
type ranging interface {
	generator
	Range(from, to time.Time) (first, last uid.ID, err error)
}

// Whatever a generator's bounds and the rate of calls, the ids of all calls of a span of
// time lie in its range. The range of Default has no others.
func TestRange(t *testing.T) {
	layout := bubble
	layout.SequenceBits = 3
	for name, open := range map[string]func(*testing.T, *rand.Rand) ranging{
		"cached": func(t *testing.T, r *rand.Rand) ranging {
			config := uid.CachedConfig{Layout: layout, BoostPower: 1 + r.IntN(3), MaxAge: time.Duration(1+r.IntN(40)) * time.Second}
			config.MaxBorrow = time.Duration(r.IntN(30)) * time.Second
			if r.IntN(4) == 0 {
				config.MaxAge, config.MaxBorrow = uid.Unlimited, time.Minute
			} else if config.MaxBorrow < 8*time.Second {
				config.MaxBorrow = uid.Unlimited
			}
			return under(t, "cached", lease.NewStatic(r.Int64N(256)), config).(ranging)
		},
		"default": func(t *testing.T, r *rand.Rand) ranging {
			return under(t, "default", lease.NewStatic(r.Int64N(256)), uid.CachedConfig{Layout: layout}).(ranging)
		},
	} {
		for seed := range uint64(40) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				time.Sleep(time.Hour)
				begun := time.Now()
				gen := open(t, r)
				var drawn []dated
				for range 60 {
					time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
					if r.IntN(10) == 0 {
						time.Sleep(time.Minute)
					}
					for range r.IntN(20) {
						id, err := gen.Wait(t.Context())
						need.Must(t, err)
						drawn = append(drawn, dated{id, time.Now()})
					}
				}
				whole := int64(time.Since(begun) / time.Second)
				for range 50 {
					from := begun.Add(time.Duration(r.Int64N(whole)) * time.Second)
					to := from.Add(time.Duration(1+r.Int64N(100)) * time.Second)
					first, last, err := gen.Range(from, to)
					need.Must(t, err)
					for _, d := range drawn {
						in, called := first <= d.id && d.id <= last, !d.at.Before(from) && d.at.Before(to)
						if called && !in || name == "default" && in != called {
							t.Fatalf("%s, seed %d: id %d of %v is in the range: %v; the range from %v to %v is %d to %d",
								name, seed, d.id, d.at, in, from, to, first, last)
						}
					}
				}
			})
		}
	}
}

// The ends of the range, counted in ticks.
func TestRangeEnds(t *testing.T) {
	id := func(tick, worker, sequence int64) uid.ID { return uid.ID(tick<<9 | worker<<1 | sequence) }
	const most = 1<<31 - 1
	clock := clockAt(start)
	cached := func(config uid.CachedConfig) ranging {
		config.Layout, config.Now = small, clock.now
		return newCached(t, config)
	}
	exact := newDefault(t, uid.DefaultConfig{Layout: small, Now: clock.now})
	bounded := cached(uid.CachedConfig{MaxAge: 10 * time.Second, MaxBorrow: time.Minute})
	for _, test := range []struct {
		name        string
		gen         ranging
		from, to    time.Time
		first, last uid.ID
	}{
		{"whole ticks", exact, at(100), at(103), id(100, 0, 0), id(102, 255, 1)},
		{"parts of ticks", exact, at(100).Add(1), at(103).Add(1), id(100, 0, 0), id(103, 255, 1)},
		{"a nanosecond", exact, at(100), at(100).Add(1), id(100, 0, 0), id(100, 255, 1)},
		{"id 0 is none", exact, at(0), at(1), 1, id(0, 255, 1)},
		{"beyond both ends", exact, at(-5), small.End().Add(time.Hour), 1, id(most, 255, 1)},
		{"the last tick", exact, small.End().Add(-time.Second), small.End(), id(most, 0, 0), id(most, 255, 1)},
		{"age and borrowed time", bounded, at(100), at(103), id(90, 0, 0), id(162, 255, 1)},
		{"near both ends", bounded, at(5), small.End().Add(-time.Minute), 1, id(most, 255, 1)},
		{"without bounds", cached(uid.CachedConfig{MaxAge: uid.Unlimited, MaxBorrow: uid.Unlimited}), at(100), at(103), 1, id(most, 255, 1)},
	} {
		if first, last, err := test.gen.Range(test.from, test.to); first != test.first || last != test.last || err != nil {
			t.Errorf("%s: Range() = %d, %d, %v, want %d, %d", test.name, first, last, err, test.first, test.last)
		}
	}
	for name, span := range map[string][2]time.Time{
		"backward": {at(3), at(2)}, "empty": {at(3), at(3)}, "before the epoch": {at(-9), at(0)}, "after the end": {small.End(), small.End().Add(1)},
	} {
		if first, last, err := exact.Range(span[0], span[1]); !errors.Is(err, bits.ErrRange) || first != 0 || last != 0 {
			t.Errorf("%s: Range() = %d, %d, %v, want ErrRange", name, first, last, err)
		}
	}
	b := newBackfill(t, &fakeLeaser{number: 7, fresh: true}, uid.BackfillConfig{Layout: small, Now: clock.now})
	first, last, err := b.Range(at(2), at(3))
	need.Must(t, err)
	for _, at := range []time.Time{at(1), at(2), at(3)} {
		row, err := b.At(at)
		if err != nil || (first <= row && row <= last) != at.Equal(small.Epoch.Add(2*time.Second)) {
			t.Errorf("id %d of %v, %v: the range is %d to %d", row, at, err, first, last)
		}
	}
}
