package uid

import (
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// steered is a clock of the system's kind whose wall time the test steps, while
// the monotonic time goes on.
func steered(t *testing.T, unit time.Duration) (c *clock, step func(time.Duration), readings func() int) {
	t.Helper()
	layout := bits.Layout{TimeBits: 53, WorkerBits: 2, SequenceBits: 8, Epoch: time.Date(1999, time.December, 31, 0, 0, 0, 0, time.UTC), Unit: unit}
	allocator, err := bits.NewAllocator(layout)
	need.Must(t, err)
	var ahead time.Duration
	read := 0
	now := func() time.Time { read++; return time.Now().Add(ahead) }
	return &clock{bits: allocator, now: now, system: true}, func(d time.Duration) { ahead += d }, func() int { return read }
}

// Between two readings of the wall clock the monotonic one tells the tick to the
// nanosecond, in every unit.
func TestClockGoesOn(t *testing.T) {
	for _, unit := range []time.Duration{time.Microsecond, time.Millisecond, 8 * time.Millisecond, time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c, _, readings := steered(t, unit)
			same := func() {
				if got, want := c.tick(), c.bits.Tick(time.Now()); got != want {
					t.Fatalf("unit %v: tick %d at %v, want %d", unit, got, time.Now(), want)
				}
			}
			for range 10_000 {
				same()
				time.Sleep(100*time.Microsecond + 1)
			}
			if got := readings(); got < 10 || got > 11 {
				t.Errorf("unit %v: the wall clock was read %d times in a second, want 10", unit, got)
			}
			time.Sleep(time.Until(time.Now().Truncate(unit).Add(unit)))
			for range 200 { // a tick begins at its very first nanosecond
				time.Sleep(unit - 1)
				same()
				time.Sleep(time.Nanosecond)
				same()
			}
		})
	}
}

// A step of the wall clock, in either direction, shows within 100 ms.
func TestClockFollowsSteps(t *testing.T) {
	for _, unit := range []time.Duration{time.Microsecond, time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c, step, _ := steered(t, unit)
			var off time.Duration
			for i, d := range []time.Duration{time.Hour, -2 * time.Hour, 5 * time.Second, -3 * time.Second, 24 * time.Hour} {
				before := c.tick()
				step(d)
				off += d
				if got := c.tick(); got != before {
					t.Errorf("unit %v: tick %d at once, after %d: the anchor was read a moment ago", unit, got, before)
				}
				time.Sleep(anchorFor)
				if got, want := c.tick(), c.bits.Tick(time.Now().Add(off)); got != want {
					t.Errorf("unit %v, step %d: tick %d after %v, want %d", unit, i, got, anchorFor, want)
				}
				time.Sleep(time.Duration(i) * 33 * time.Millisecond)
				c.read() // as another call may have done
			}
		})
	}
}

// A clock outside of the layout's time is not remembered.
func TestClockOutsideOfTheLayout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, step, _ := steered(t, time.Second)
		step(-48 * time.Hour)
		if got := c.tick(); got >= 0 || c.anchor.Load() != nil {
			t.Errorf("tick %d before the epoch, with anchor %v", got, c.anchor.Load())
		}
		step(48 * time.Hour)
		if got, want := c.tick(), int64(24*3600); got != want {
			t.Errorf("tick %d, want %d", got, want)
		}
	})
}

// While the number changes, no tick may be stamped, even if the leaser goes from one
// number to another without saying that the first is lost.
func TestNothingIsStampedWhileTheNumberChanges(t *testing.T) {
	var h holder
	need.Must(t, h.prepare(invalid.Of("uid"), lease.NewStatic(1), bits.Registry(), nil, slog.Default()))
	var numbers []int64
	h.renumber = func(next *grant) {
		numbers = append(numbers, next.worker)
		if now := h.grant.Load(); now.first <= now.last {
			t.Errorf("ticks %d to %d may be stamped under %d while the number becomes %d", now.first, now.last, now.worker, next.worker)
		}
	}
	for _, number := range []int64{1, 2, 2, 3} {
		h.granted(lease.Grant{Held: true, Number: number})
		if w := h.grant.Load(); w.worker != number || !w.covers(h.bits.Tick(time.Now())) {
			t.Errorf("%+v after number %d was granted", w, number)
		}
	}
	if len(numbers) != 3 || h.changes.Load() != 2 {
		t.Errorf("numbers %v, %d changes; want 3 numbers and 2 changes", numbers, h.changes.Load())
	}
}

// What every call reads lies at least a cache line's distance from what calls
// write.
func TestHotFieldsStandApart(t *testing.T) {
	var d Default
	var s Slots
	for name, fields := range map[string]struct{ read, written map[string]uintptr }{
		"Default": {map[string]uintptr{
			"bits":   unsafe.Offsetof(d.holder) + unsafe.Offsetof(d.holder.bits),
			"grant":  unsafe.Offsetof(d.holder) + unsafe.Offsetof(d.holder.grant),
			"anchor": unsafe.Offsetof(d.clock) + unsafe.Offsetof(d.clock.anchor),
		}, map[string]uintptr{
			"last":   unsafe.Offsetof(d.last),
			"issued": unsafe.Offsetof(d.issued),
			"calls":  unsafe.Offsetof(d.calls) + contention.LineSize - 8,
		}},
		"Slots": {map[string]uintptr{
			"slots":  unsafe.Offsetof(s.slots),
			"mask":   unsafe.Offsetof(s.mask),
			"grant":  unsafe.Offsetof(s.holder) + unsafe.Offsetof(s.holder.grant),
			"anchor": unsafe.Offsetof(s.clock) + unsafe.Offsetof(s.clock.anchor),
		}, map[string]uintptr{
			"issued": unsafe.Offsetof(s.issued),
			"calls":  unsafe.Offsetof(s.calls) + contention.LineSize - 8,
		}},
	} {
		for read, at := range fields.read {
			for written, by := range fields.written {
				if gap := max(at, by) - min(at, by); gap < contention.LineSize-8 {
					t.Errorf("%s: %s, which calls read, lies %d bytes from %s, which they write", name, read, gap, written)
				}
			}
		}
	}
}

// A change of the number that meets Shutdown opens a Default no more: another holder may have
// the number that was given back.
func TestSkipAfterClose(t *testing.T) {
	g, err := NewDefault(t.Context(), lease.NewStatic(7), DefaultConfig{})
	need.Must(t, err)
	g.stop() // as if Shutdown came after renumber has looked whether it is closed
	g.renumber(nil)
	if last := g.last.Load(); last != math.MaxInt64 {
		t.Errorf("last is %d after Shutdown, want %d", last, int64(math.MaxInt64))
	}
	need.Must(t, g.Close())
}

// A Backfill remembers no more than MaxTicks.
func TestBackfillForgets(t *testing.T) {
	b, err := NewBackfill(t.Context(), lease.New(new(leasetest.Memory), lease.Config{}), BackfillConfig{MaxTicks: 4})
	need.Must(t, err)
	defer b.Close()
	for tick := range int64(50) {
		if _, err := b.At(b.holder.bits.Time(tick)); err != nil || len(b.used) > 4 || len(b.ticks) > 4 {
			t.Fatalf("%v; %d and %d ticks are remembered, want 4 at most", err, len(b.used), len(b.ticks))
		}
	}
}
