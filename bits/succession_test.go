package bits_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

func TestSuccession(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		need.Must(t, err)
		return at
	}
	never := time.Time{}
	expiry := bits.Baidu().End()
	for name, test := range map[string]struct {
		old, next    string
		began, ended time.Time
		ordered      bool
		from, until  time.Time
		used         int64 // FreshNumbers of it
		first, last  int64
		ok           bool
	}{
		"the layout goes on": {
			"registry", "registry", never, day("2027-01-01"),
			true, never, never, 1000, 0, 1<<22 - 1, true,
		},
		"a new epoch, the same widths": {
			"baidu", "28/22/13,epoch=2024-11-01", never, expiry,
			false, expiry, time.Date(2033, 5, 4, 21, 24, 16, 0, time.UTC), 5000, 5001, 1<<22 - 1, true,
		},
		"old ids began late": {
			"baidu", "28/22/13,epoch=2024-11-01", day("2018-05-20"), expiry,
			false, day("2026-11-01"), time.Date(2033, 5, 4, 21, 24, 16, 0, time.UTC), 5000, 5001, 1<<22 - 1, true,
		},
		"other widths that fit above": {
			"js-safe", "registry", never, day("2027-01-01"),
			true, never, never, 4095, 0, 1<<22 - 1, true,
		},
		"fewer bits than old ids have": {
			"registry", "js-safe", day("2027-01-01"), day("2028-01-01"),
			false, never, never, 9, 0, 4095, true,
		},
		// Numbers have bits 13 to 34 in the old layout and 16 to 31 in the next, so
		// the lowest 3 bits of an old number do not count.
		"other widths that overlap": {
			"registry", "31/16/16", never, day("2028-01-01"),
			false, day("2028-01-01"), day("2041-12-28"), 17, 3, 1<<16 - 1, true,
		},
		"in the middle of a tick": {
			"registry", "registry", never, day("2027-01-01").Add(time.Second / 2),
			false, day("2027-01-01").Add(time.Second / 2), day("2027-01-01"), 7, 8, 1<<22 - 1, true,
		},
		"one id in common": {
			"4/0/0", "2/0/0", day("2026-01-01").Add(3 * time.Second), day("2026-01-01").Add(3500 * time.Millisecond),
			false, day("2026-01-01").Add(3500 * time.Millisecond), day("2026-01-01"), 0, 0, 0, false,
		},
		"all numbers used": {
			"baidu", "28/22/13,epoch=2024-11-01", never, expiry,
			false, expiry, time.Date(2033, 5, 4, 21, 24, 16, 0, time.UTC), 1<<22 - 1, 0, 0, false,
		},
		"no bits in common": {
			"28/10/25", "40/10/13,unit=10ms", never, day("2027-01-01"),
			false, day("2027-01-01"), day("2066-12-07"), 1, 0, 0, false,
		},
	} {
		s, err := bits.NewSuccession(mustLayout(t, test.old), mustLayout(t, test.next), test.began, test.ended)
		need.Must(t, err)
		if s.Ordered != test.ordered || !s.From.Equal(test.from) || s.Until.Sub(test.until).Abs() > 24*time.Hour {
			t.Errorf("%s: ordered %t, from %v, until %v; want %t, %v, %v", name, s.Ordered, s.From, s.Until, test.ordered, test.from, test.until)
		}
		if first, last, ok := s.FreshNumbers(test.used); first != test.first || last != test.last || ok != test.ok {
			t.Errorf("%s: FreshNumbers(%d) = %d, %d, %t, want %d, %d, %t", name, test.used, first, last, ok, test.first, test.last, test.ok)
		}
	}
}

func TestSuccessionRefused(t *testing.T) {
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		old, next    bits.Layout
		began, ended time.Time
		want         error
	}{
		{bits.Layout{}, bits.Registry(), time.Time{}, at, bits.ErrLayout},
		{bits.Registry(), bits.Layout{}, time.Time{}, at, bits.ErrLayout},
		{bits.Registry(), bits.LongLived(), at, at, bits.ErrRange},
		{bits.Baidu(), bits.LongLived(), at, at.Add(time.Hour), bits.ErrRange},
		{bits.Registry(), bits.Baidu(), time.Time{}, at, bits.ErrRange},
		{bits.Registry(), bits.LongLived(), time.Time{}, bits.Registry().Epoch, bits.ErrRange},
		{bits.Snowflake(), bits.Baidu(), time.Time{}, bits.Baidu().End(), bits.ErrRange},
	} {
		if s, err := bits.NewSuccession(test.old, test.next, test.began, test.ended); !errors.Is(err, test.want) {
			t.Errorf("NewSuccession(%v, %v, %v, %v) = %+v, %v, want %v", test.old, test.next, test.began, test.ended, s, err, test.want)
		}
	}
}

func smallLayout(t *rapid.T, name string) bits.Layout {
	return bits.Layout{
		TimeBits:     uint8(rapid.IntRange(1, 4).Draw(t, name+" time")),
		WorkerBits:   uint8(rapid.IntRange(0, 3).Draw(t, name+" worker")),
		SequenceBits: uint8(rapid.IntRange(0, 3).Draw(t, name+" sequence")),
		Epoch:        epoch.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 3, 7}).Draw(t, name+" epoch")) * time.Second),
		Unit:         time.Duration(rapid.SampledFrom([]int{1, 2, 3}).Draw(t, name+" unit")) * time.Second,
	}
}

// Ids of two small layouts, all of them, are compared with what a Succession says.
func TestSuccessionAgainstAllIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, next := smallLayout(t, "old"), smallLayout(t, "next")
		began := epoch.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "began")) * time.Second)
		ended := began.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "lasted")) * time.Second)
		s, err := bits.NewSuccession(old, next, began, ended)
		if err != nil {
			t.Skip("the layouts cannot follow each other: ", err)
		}
		used := rapid.Int64Range(0, 1<<old.WorkerBits-1).Draw(t, "used")
		first, last, ok := s.FreshNumbers(used)
		ids := make(map[int64]int64) // with their numbers
		greatest := int64(-1)
		o, n := mustAllocator(t, old), mustAllocator(t, next)
		each(o, max(0, o.Tick(began)), o.Tick(ended.Add(-1)), func(id, tick, worker int64) {
			ids[id] = worker
			greatest = max(greatest, id)
		})
		ordered, met := true, false
		each(n, max(0, n.Tick(ended)), n.MaxTick(), func(id, tick, worker int64) {
			ordered = ordered && id > greatest
			from, until := n.Time(tick), n.Time(tick+1)
			number, equal := ids[id]
			if inTime := from.Before(s.Until) && until.After(s.From); equal && !inTime {
				t.Fatalf("%v, %v: id %d of %v is an old one; they meet from %v to %v", old, next, id, from, s.From, s.Until)
			}
			if !from.Before(s.Until) && !s.Until.IsZero() && id <= greatest {
				t.Fatalf("%v, %v: id %d of %v is not above %d after %v", old, next, id, from, greatest, s.Until)
			}
			if equal && number <= used && ok && worker >= first && worker <= last {
				t.Fatalf("%v, %v: id %d is of number %d, and %d to %d are fresh after %d", old, next, id, number, first, last, used)
			}
			met = met || equal
		})
		if s.Ordered != ordered || met == s.From.IsZero() {
			t.Fatalf("%v, %v: ordered %t, from %v; found ordered %t, met %t", old, next, s.Ordered, s.From, ordered, met)
		}
	})
}

// If both layouts make ids at the same time, fresh numbers alone keep all of them apart.
func TestSuccessionAtTheSameTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, next := smallLayout(t, "old"), smallLayout(t, "next")
		s, err := bits.NewSuccession(old, next, time.Time{}, time.Time{})
		need.Must(t, err)
		used := rapid.Int64Range(-1, 1<<old.WorkerBits-1).Draw(t, "used")
		first, last, ok := s.FreshNumbers(used)
		if !ok {
			return
		}
		o, n := mustAllocator(t, old), mustAllocator(t, next)
		ids := make(map[int64]bool)
		each(o, 0, o.MaxTick(), func(id, _, worker int64) { ids[id] = worker <= used || ids[id] })
		each(n, 0, n.MaxTick(), func(id, _, worker int64) {
			if ids[id] && worker >= first && worker <= last {
				t.Fatalf("%v, %v: id %d has a number up to %d, and a fresh one of %d to %d", old, next, id, used, first, last)
			}
		})
		if s.Ordered || s.From.IsZero() {
			t.Fatalf("%+v, want ids that can be equal at any time", s)
		}
	})
}

// each calls f with every id of the ticks from first to last that a has.
func each(a *bits.Allocator, first, last int64, f func(id, tick, worker int64)) {
	for tick := first; tick <= min(last, a.MaxTick()); tick++ {
		for worker := range a.MaxWorker() + 1 {
			for sequence := range a.MaxSequence() + 1 {
				id, err := a.Compose(tick, worker, sequence)
				if err != nil {
					panic(err)
				}
				f(id, tick, worker)
			}
		}
	}
}
