package bench

import (
	"context"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Batch is how many ids a call of NextN makes.
const Batch = 256

// Names of the generators' methods, as subjects.
const (
	CachedNext   = "Cached.Next"
	CachedNextN  = "Cached.NextN(256)"
	CachedWaitN  = "Cached.WaitN(256)"
	CachedAll    = "Cached.All"
	DefaultNext  = "Default.Next"
	DefaultNextN = "Default.NextN(256)"
	DefaultAll   = "Default.All"
	SlotsNext    = "Slots.Next"
)

// Roomy is the layout that Default and Slots are measured with. It has so many ids in a
// tick that they never wait for the next tick. With the default layout's 8,192 ids a
// second, a sample would measure the wait.
var Roomy = bits.Layout{
	TimeBits:     31,
	WorkerBits:   1,
	SequenceBits: 31,
	Epoch:        time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	Unit:         time.Second,
}

// quiet is one logger for all, so that it does not count as a generator's memory.
var quiet = slog.New(slog.DiscardHandler)

// NewCached starts a cached generator that borrows without bound: a loop that does
// nothing but take ids reaches any bound within seconds.
func NewCached(layout bits.Layout, boost int) (*uid.Cached, error) {
	return uid.NewCached(context.Background(), uid.StaticWorker(0),
		uid.CachedConfig{Layout: layout, BoostPower: boost, MaxBorrow: -1, Logger: quiet})
}

// Ours returns the generators by their methods: Cached with the given layout and
// BoostPower, the others with [Roomy].
func Ours(layout bits.Layout, boost int) []Subject {
	cached := func() (*uid.Cached, error) { return NewCached(layout, boost) }
	standard := func() (*uid.Default, error) {
		return uid.NewDefault(context.Background(), uid.StaticWorker(0), uid.DefaultConfig{Layout: Roomy, Logger: quiet})
	}
	slots := func() (*uid.Slots, error) {
		return uid.NewSlots(context.Background(), uid.StaticWorker(0), uid.SlotsConfig{Layout: Roomy, Logger: quiet})
	}
	return []Subject{
		Generator(CachedNext, 1, cached, cachedNext),
		Generator(CachedNextN, Batch, cached, cachedNextN),
		Generator(CachedWaitN, Batch, cached, cachedWaitN),
		Generator(CachedAll, 1, cached, cachedAll),
		Generator(DefaultNext, 1, standard, defaultNext),
		Generator(DefaultNextN, Batch, standard, defaultNextN),
		Generator(DefaultAll, 1, standard, defaultAll),
		Generator(SlotsNext, 1, slots, slotsNext),
	}
}

// Generator is a subject for one of a generator's methods, which loop calls.
func Generator[G interface {
	Stats() uid.Stats
	Close() error
}](name string, perCall int, open func() (G, error), loop func(gen G, n int) (uint64, error)) Subject {
	return Subject{name, func() (*Instance, error) {
		gen, err := open()
		if err != nil {
			return nil, err
		}
		return &Instance{Loop: func(n int) (uint64, error) { return loop(gen, n) }, PerCall: perCall, Stats: gen.Stats, Close: gen.Close}, nil
	}}
}

// The loops are functions, one for each type and method: a call through an interface
// or a type parameter is not what a user's call costs.

func cachedNext(gen *uid.Cached, n int) (uint64, error) {
	return Repeat(n, func() (uint64, error) { id, err := gen.Next(); return uint64(id), err })
}

func defaultNext(gen *uid.Default, n int) (uint64, error) {
	return Repeat(n, func() (uint64, error) { id, err := gen.Next(); return uint64(id), err })
}

func slotsNext(gen *uid.Slots, n int) (uint64, error) {
	return Repeat(n, func() (uint64, error) { id, err := gen.Next(); return uint64(id), err })
}

func cachedNextN(gen *uid.Cached, n int) (uint64, error) {
	var ids [Batch]uid.ID
	return Repeat(n, func() (uint64, error) { _, err := gen.NextN(ids[:]); return uint64(ids[Batch-1]), err })
}

func cachedWaitN(gen *uid.Cached, n int) (uint64, error) {
	var ids [Batch]uid.ID
	ctx := context.Background()
	return Repeat(n, func() (uint64, error) { _, err := gen.WaitN(ctx, ids[:]); return uint64(ids[Batch-1]), err })
}

func defaultNextN(gen *uid.Default, n int) (uint64, error) {
	var ids [Batch]uid.ID
	return Repeat(n, func() (uint64, error) { _, err := gen.NextN(ids[:]); return uint64(ids[Batch-1]), err })
}

func cachedAll(gen *uid.Cached, n int) (uint64, error) {
	for id, err := range gen.All(context.Background()) {
		if n--; n == 0 || err != nil {
			return uint64(id), err
		}
	}
	return 0, nil
}

func defaultAll(gen *uid.Default, n int) (uint64, error) {
	for id, err := range gen.All(context.Background()) {
		if n--; n == 0 || err != nil {
			return uint64(id), err
		}
	}
	return 0, nil
}
