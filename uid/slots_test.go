package uid_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// tiny has four ids for each tick.
var tiny = bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 2, Epoch: bits.Registry().Epoch, Unit: time.Second}

// Whatever the clock does, ids differ, the count is exact, and as long as slots
// have room none is refused. A restart goes on behind every tick that was issued.
func TestSlotsLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := clockAt(start)
		slots := 1 << rapid.IntRange(0, 4).Draw(rt, "slots")
		leaser := &fakeLeaser{number: 1, from: at(rapid.Int64Range(0, 60).Draw(rt, "floor"))}
		gen := newSlots(t, leaser, uid.SlotsConfig{Layout: tiny, Slots: slots, Now: clock.now})
		defer func() { gen.Close() }()
		seen := map[uid.ID]bool{}
		number, numbers, issued := int64(1), int64(1), int64(0)
		greatest := map[[2]int64]uid.ID{} // by number and slot
		for range rapid.IntRange(1, 200).Draw(rt, "steps") {
			switch rapid.IntRange(0, 12).Draw(rt, "kind") {
			case 0: // hours, back or ahead, but not before the epoch
				clock.step(time.Duration(rapid.Int64Range(-10_000, 10_000).Draw(rt, "seconds")) * time.Second)
				if clock.now().Before(tiny.Epoch) {
					clock.step(tiny.Epoch.Sub(clock.now()))
				}
			case 1:
				clock.step(time.Second)
			case 2: // the number is lost, and another or the same is granted, later on
				leaser.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
				if _, err := gen.Next(); !errors.Is(err, uid.ErrReservation) {
					rt.Fatalf("Next() = %v without a number", err)
				}
				if rapid.Bool().Draw(rt, "another") {
					numbers++
					number = numbers
				}
				leaser.granted(number, at(rapid.Int64Range(0, 20_000).Draw(rt, "from")), time.Time{}, nil)
			case 3: // a restart under the same number
				if err := gen.Close(); err != nil || len(leaser.released) != 1 {
					rt.Fatalf("Close() = %v, and released %v, want once", err, leaser.released)
				}
				issued += gen.Stats().Issued
				from := leaser.released[0]
				if from.Before(leaser.from) { // nothing was issued
					from = leaser.from
				}
				leaser = &fakeLeaser{number: number, from: from}
				gen = newSlots(t, leaser, uid.SlotsConfig{Layout: tiny, Slots: slots, Now: clock.now})
			default:
				ids := make([]uid.ID, rapid.IntRange(1, 6).Draw(rt, "n"))
				n, err := gen.NextN(ids)
				if err != nil && !errors.Is(err, uid.ErrNotReady) {
					rt.Fatalf("NextN() = %v", err)
				}
				for _, id := range ids[:n] {
					parts, err := gen.Parse(id)
					if seen[id] || id == 0 || err != nil || parts.Worker != number {
						rt.Fatalf("id %d: %+v, %v; a repeat is %v", id, parts, err, seen[id])
					}
					seen[id] = true
					slot := [2]int64{parts.Worker, parts.Tick % int64(slots)}
					greatest[slot] = max(greatest[slot], id)
				}
				present := int64(clock.now().Sub(tiny.Epoch) / tiny.Unit)
				for slot := range int64(slots) {
					last := greatest[[2]int64{number, slot}]
					parts, _ := gen.Parse(last)
					if err != nil && (parts.Sequence < 3 || slot == present%int64(slots) && parts.Tick < present) {
						rt.Fatalf("NextN() = %v at tick %d, and slot %d has room after %+v", err, present, slot, parts)
					}
				}
			}
		}
		if got := issued + gen.Stats().Issued; got != int64(len(seen)) {
			rt.Fatalf("%d issued, want %d", got, len(seen))
		}
	})
}

// What was not issued is given back: no more than the greatest tick issued counts.
func TestSlotsGiveBack(t *testing.T) {
	leaser := &fakeLeaser{number: 1}
	clock := clockAt(start)
	gen := newSlots(t, leaser, uid.SlotsConfig{Layout: tiny, Now: clock.now})
	greatest := tick(t, gen)
	clock.step(-time.Hour)
	clock.step(max(0, tiny.Epoch.Sub(clock.now())))
	greatest = max(greatest, tick(t, gen))
	if used, _ := leaser.told(); !used.Equal(at(greatest + 1)) {
		t.Errorf("the lease was told of ticks to %v, want %v", used, at(greatest+1))
	}
	gen.Close()
	gen.Close()
	if len(leaser.released) != 1 || !leaser.released[0].Equal(at(greatest+1)) {
		t.Errorf("released %v, want once from tick %d on", leaser.released, greatest+1)
	}
	unused := &fakeLeaser{number: 1}
	newSlots(t, unused, uid.SlotsConfig{Layout: tiny, Now: clock.now}).Close()
	if len(unused.released) != 1 || !unused.released[0].Equal(tiny.Epoch) {
		t.Errorf("released %v, want the epoch: nothing was issued", unused.released)
	}
}

// A step ahead, past what is reserved, asks for more and goes on from other slots.
func TestSlotsReserveAhead(t *testing.T) {
	leaser := &fakeLeaser{number: 1, until: at(100)}
	clock := clockAt(start)
	gen := newSlots(t, leaser, uid.SlotsConfig{Layout: tiny, Slots: 16, Now: clock.now})
	clock.step(time.Hour)
	id := mustNext(t, gen)
	if parts, _ := gen.Parse(id); parts.Tick >= 100 {
		t.Errorf("tick %d is stamped, and time is reserved until 100", parts.Tick)
	}
	if used, _ := leaser.told(); used.Before(clock.now()) {
		t.Errorf("the lease was told of %v, want the clock's %v", used, clock.now())
	}
	leaser.granted(1, time.Time{}, at(10_000), nil)
	if got := tick(t, gen); got != 3605 {
		t.Errorf("tick is %d after more was granted, want 3605", got)
	}
	if s := gen.Stats(); s.Clock.Worker != 1 || s.Clock.WorkerChanges != 0 || !s.Clock.ReservedUntil.Equal(at(10_000)) {
		t.Errorf("Stats() = %+v", s)
	}
}

// At the end of the layout slots do not wrap to its beginning.
func TestSlotsAtTheEnd(t *testing.T) {
	layout := bits.Layout{TimeBits: 61, SequenceBits: 2, Epoch: start, Unit: time.Nanosecond}
	clock := clockAt(layout.End().Add(-3))
	gen := newSlots(t, lease.NewStatic(0), uid.SlotsConfig{Layout: layout, Slots: 8, Now: clock.now, Logger: quiet})
	id, err := gen.Next()
	for ; err == nil; id, err = gen.Next() {
		if parts, _ := gen.Parse(id); id < 0 || parts.Tick < 1<<61-3 {
			t.Fatalf("id %d of tick %d", id, parts.Tick)
		}
	}
	need.Error(t, err, uid.ErrNotReady)
	clock.step(time.Hour)
	_, err = gen.Next()
	need.Error(t, err, uid.ErrTimeExhausted)
}
