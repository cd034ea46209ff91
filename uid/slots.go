package uid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/ringbuffer"
)

const maxSlots = 1 << 16

// errSlotsFull is the error when the ids of every slot's tick are used up. A slot has room
// again when the clock shows a later tick than the slot's.
var errSlotsFull = fmt.Errorf("%w: all slots are full", ErrNotReady)

// SlotsConfig configures a [Slots] generator. Zero fields take their default values.
type SlotsConfig struct {
	// Layout and Logger mean the same as in [CachedConfig], and Now the same as in
	// [DefaultConfig].
	Layout bits.Layout
	Now    func() time.Time
	Logger *slog.Logger

	// Slots is how many ticks the generator remembers. It must be a power of two from 1 to 65,536;
	// zero means 256. While the clock stands still, or is behind the ids after a step back, the
	// generator makes at most Slots ticks' worth of ids.
	Slots int
}

// Validate reports every invalid field in one error, which matches [ErrConfig].
func (c SlotsConfig) Validate() error { return c.prepare().Err() }

func (c *SlotsConfig) prepare() *invalid.List {
	faults := prepare(&c.Layout, &c.Logger)
	c.Slots = cmp.Or(c.Slots, DefaultSlots)
	if c.Slots < 1 || c.Slots > maxSlots || c.Slots&(c.Slots-1) != 0 {
		faults.Add("Slots", c.Slots, fmt.Sprintf("a power of two from 1 to %d", maxSlots))
	}
	return faults
}

// Slots makes ids whatever its clock does: as long as its slots have room, a clock step of any
// size, forward or back, neither makes a call wait nor causes a repeated id. Its ids are unique
// but not ordered. Make one with [NewSlots] and share it: all methods are safe for concurrent
// use. The zero value is not usable.
//
// Choose Slots where the clock cannot be trusted and order does not matter. An id carries the
// current tick or the tick of another slot. That tick is within SlotsConfig.Slots ticks of the
// clock if there are calls in every tick, but can otherwise be farther away, so Slots has no
// Range method.
//
// Slot i remembers one of the ticks t with t mod Slots = i, and how many of that tick's sequence
// numbers have been used. An id comes from the slot of the current tick. If the slot remembers an
// earlier tick, the slot moves up to the current one. If it remembers a later tick, because the
// clock stepped back, the id gets that tick. If the slot is full, the id comes from the next slot
// that has room, with that slot's tick.
//
// # Why no id repeats
//
// A slot changes by compare-and-swap, to a greater sequence number of the same tick or to a later
// tick. So it uses each sequence number of a tick at most once, and never returns to a tick that
// it has left. Two slots never remember the same tick, since their ticks differ mod Slots. A slot
// begins at the current tick or later, and issues ids only with ticks the lease grants. When a
// number is lost, the next number gets new slots. Close shuts every slot, then releases the
// number; the number's next holder starts after the latest tick in any id that this generator
// issued with it.
type Slots struct {
	tickShift uint8 // SequenceBits + 1: a slot is tick<<tickShift | used sequences
	mask      int64 // number of slots - 1
	start     int64 // the first sequence of a slot that has issued nothing

	slots atomic.Pointer[slots] // of the present number; written under mu
	mu    sync.Mutex            // held while slots are replaced or shut

	holder // of the worker number
	clock  clock
	claimer
	_ contention.Pad

	issued atomic.Int64 // ids; written by calls, read by Stats
	calls  deal.Calls
}

type slots struct {
	worker int64
	words  []atomic.Uint64
}

// shutSlot replaces the word of a slot that issues nothing more.
const shutSlot = math.MaxUint64

// NewSlots takes a worker number from source and returns the generator. If a crashed holder of a
// leased number reserved future time, the first ids are stamped after that time. ctx and the
// errors mean the same as for [NewDefault].
func NewSlots(ctx context.Context, source WorkerSource, config SlotsConfig) (*Slots, error) {
	return settle(ctx, source, config, &config.Layout, func(from origin) (*Slots, error) {
		return startSlots(ctx, source, config, from)
	})
}

func startSlots(ctx context.Context, source WorkerSource, config SlotsConfig, from origin) (*Slots, error) {
	faults := config.prepare()
	g := &Slots{tickShift: config.Layout.SequenceBits + 1, mask: int64(config.Slots) - 1, calls: deal.NewCalls()}
	g.holder.renumber = g.renumber
	g.holder.from = from
	if err := g.holder.prepare(faults, source, config.Layout, config.Now, config.Logger); err != nil {
		return nil, err
	}
	g.claims = deal.NewClaims[ID, Run](g.claim)
	g.clock = clock{bits: &g.holder.bits, now: g.holder.now, system: config.Now == nil}
	g.start = rand.Int64N(max((g.holder.bits.MaxSequence()+1)/2, 1)) // so that short-lived processes are even too
	g.slots.Store(&slots{worker: -1})
	if err := g.holder.take(ctx, source); err != nil {
		return nil, err
	}
	if err := g.holder.await(ctx, func(w *grant) bool { return w.covers(w.first) }); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.holder.logStart("Slots")
	return g, nil
}

// renumber makes slots for another number. It leaves out tick 0, where worker 0 would
// have id 0, which stands for no id.
func (g *Slots) renumber(w *grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	floor := max(w.first, g.holder.bits.Tick(g.holder.now()), 1)
	after := &slots{worker: w.worker, words: make([]atomic.Uint64, g.mask+1)}
	for i := range after.words {
		at := g.atLeast(floor, int64(i))
		if after.words[i].Store(g.word(at, 0)); g.calls.Closed() || at > g.holder.bits.MaxTick() {
			after.words[i].Store(shutSlot)
		}
	}
	g.shutAll(g.slots.Swap(after))
}

// shutAll ends issuing from s and returns the greatest tick issued, or -1.
func (g *Slots) shutAll(s *slots) int64 {
	greatest := int64(-1)
	for i := range s.words {
		if word := s.words[i].Swap(shutSlot); word != shutSlot {
			if at, used := g.split(word); used > 0 {
				greatest = max(greatest, at)
			}
		}
	}
	return greatest
}

// atLeast returns the first tick of slot i from tick on.
func (g *Slots) atLeast(tick, i int64) int64 { return tick + (i-tick)&g.mask }

func (g *Slots) word(tick, used int64) uint64 { return uint64(tick)<<g.tickShift | uint64(used) }

func (g *Slots) split(word uint64) (tick, used int64) {
	return int64(word >> g.tickShift), int64(word & (1<<g.tickShift - 1))
}

// Next returns an id. It waits only if all slots are full and more time is being reserved under a
// leased number. The errors match [ErrNotReady], [ErrClosed], [ErrTimeExhausted] or
// [ErrReservation].
func (g *Slots) Next() (ID, error) {
	run, err := g.claim(context.Background(), 1, deal.Next)
	return ID(run.First), err
}

// claim takes at most limit consecutive ids of one slot. While the number changes,
// the grant is empty, or of another number than the slots.
func (g *Slots) claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error) {
	for {
		w, s := g.holder.grant.Load(), g.slots.Load()
		tick := g.clock.tick()
		if w.worker == s.worker {
			if run := g.fromSlots(w, s, tick, limit); run.N > 0 {
				return run, nil
			}
		}
		if w != g.holder.grant.Load() {
			continue
		}
		if err := g.pause(ctx, w, tick, how); err != nil {
			return ringbuffer.Run{}, g.calls.Failed(err, how)
		}
	}
}

// fromSlots takes ids from the slot of tick, or else from the next one with room.
func (g *Slots) fromSlots(w *grant, s *slots, tick, limit int64) ringbuffer.Run {
	if w.last < tick && tick <= g.holder.bits.MaxTick() {
		g.holder.use(tick)
	}
	for i := range g.mask + 1 {
		slot := &s.words[(tick+i)&g.mask]
		for word := slot.Load(); word != shutSlot; word = slot.Load() {
			was, used := g.split(word)
			at, start := was, used
			switch {
			case i == 0 && was < tick && w.covers(tick):
				at, start = tick, resumeAt(used, g.holder.bits.MaxSequence())
			case was < w.first: // this grant of the number begins later than the last
				at, start = g.atLeast(w.first, was&g.mask), 0
			}
			if used == 0 {
				start = g.start
			}
			n := min(limit, g.holder.bits.MaxSequence()+1-start)
			if n <= 0 || !w.covers(at) {
				break
			}
			if !slot.CompareAndSwap(word, g.word(at, start+n)) {
				continue
			}
			g.issued.Add(n)
			if used == 0 || was != at {
				g.holder.use(at)
			}
			return ringbuffer.Run{First: g.holder.first(at, w.worker) + start, N: n}
		}
	}
	return ringbuffer.Run{}
}

func (g *Slots) pause(ctx context.Context, w *grant, tick int64, how deal.How) error {
	if g.calls.Closed() {
		return ErrClosed
	}
	if err := g.blocked(w, tick); err != nil && (how == deal.Next || !errors.Is(err, ErrReservation)) {
		return err
	}
	left := deal.LongestSleep // if no number is held, or more time is to be reserved
	switch {
	case how == deal.Try:
		return ErrNotReady
	case tick <= w.last:
		if how == deal.Next {
			return errSlotsFull
		}
		left = g.holder.bits.Time(max(tick, 0) + 1).Sub(g.holder.now())
	}
	return g.calls.Sleep(ctx, w.replaced, left)
}

// blocked returns why tick may not be stamped, nil if more time is being reserved.
func (g *Slots) blocked(w *grant, tick int64) error {
	switch {
	case tick > g.holder.bits.MaxTick():
		return g.holder.exhausted()
	case w.err != nil && tick > w.last:
		return g.holder.reservationError(w)
	}
	return nil
}

// Stats returns the generator's counts and state.
func (g *Slots) Stats() Stats {
	failure := g.blocked(g.holder.grant.Load(), g.holder.bits.Tick(g.holder.now()))
	return g.holder.stats(&g.calls, g.issued.Load(), failure)
}

// Close is Shutdown with a timeout of [CloseTimeout].
func (g *Slots) Close() error { return deal.Close(g.Shutdown) }

// Shutdown unblocks every waiting call and, if the number is leased, releases it, as
// [Default.Shutdown] does.
func (g *Slots) Shutdown(ctx context.Context) error {
	g.calls.Shut()
	return g.calls.Finish(func() error { return g.holder.giveBack(ctx, g.stop()) })
}

func (g *Slots) stop() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shutAll(g.slots.Load()) + 1
}
