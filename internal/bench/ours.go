package bench

import (
	"context"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// BatchSize is how many ids a call of NextN is asked for.
const BatchSize = 256

// RoomyLayout has so many ids in a second that none waits for the next one: with
// the default layout's 8,192 a second, Default would be measured asleep.
var RoomyLayout = bits.Layout{
	TimeBits:     31,
	WorkerBits:   1,
	SequenceBits: 31,
	Epoch:        time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	Unit:         time.Second,
}

// quiet is one for all, so that it does not count as a generator's memory.
var quiet = slog.New(slog.DiscardHandler)

// Boost is BoostPower's default, which gives a ring of 65,536 ids.
const Boost = 3

var cachedNext = Impl{
	Name:    "cached",
	Package: "uidring `uid.Cached`, `Next`",
	Kind:    Ours,
	Cap:     "8,192 / s in the long run; a burst runs ahead of the clock, by `MaxBorrow` at most",
	GivesUp: "a stamp of the moment: it is of the second that the id was reserved for; needs a worker number",
	Setup:   "default layout 28/22/13, BoostPower 3, PaddingFactor 50, MaxBorrow unbounded",
	New: func() (*Instance, error) {
		gen, err := OpenCached(bits.Default, Boost)
		if err != nil {
			return nil, err
		}
		return CachedInstance(gen), nil
	},
}

var cachedNextN = Impl{
	Name:    "cached",
	Package: "uidring `uid.Cached`, `NextN` of 256",
	Kind:    Ours,
	Cap:     cachedNext.Cap,
	GivesUp: cachedNext.GivesUp,
	Setup:   cachedNext.Setup,
	New: func() (*Instance, error) {
		gen, err := OpenCached(bits.Default, Boost)
		if err != nil {
			return nil, err
		}
		in := CachedInstance(gen)
		in.PerCall = BatchSize
		in.Batch = func(n int) (uint64, error) { return cachedManyLoop(gen, n) }
		return in, nil
	},
}

var defaultNext = Impl{
	Name:       "default",
	Package:    "uidring `uid.Default`, `Next`",
	Kind:       Ours,
	ReadsClock: true,
	Cap:        "8,192 / s with the default layout, where it waits; 2^31 / s with the one measured",
	GivesUp:    "speed, for a stamp of the moment of the call; needs a worker number",
	Setup:      "layout 31/1/31, so that its own cost is measured and not the wait for the next second",
	New: func() (*Instance, error) {
		gen, err := OpenDefault()
		if err != nil {
			return nil, err
		}
		return DefaultInstance(gen), nil
	},
}

var defaultNextN = Impl{
	Name:    "default",
	Package: "uidring `uid.Default`, `NextN` of 256",
	Kind:    Ours,
	Cap:     defaultNext.Cap,
	GivesUp: defaultNext.GivesUp,
	Setup:   defaultNext.Setup,
	New: func() (*Instance, error) {
		gen, err := OpenDefault()
		if err != nil {
			return nil, err
		}
		in := DefaultInstance(gen)
		in.PerCall = BatchSize
		in.Batch = func(n int) (uint64, error) { return defaultManyLoop(gen, n) }
		return in, nil
	},
}

// OpenCached starts a cached generator that borrows without bound, as a loop
// that does nothing but take ids would meet any bound within seconds.
func OpenCached(layout bits.Layout, boost int) (*uid.Cached, error) {
	return uid.NewCached(context.Background(), uid.StaticWorker(1), uid.Config{
		Layout:        layout,
		BoostPower:    boost,
		PaddingFactor: 50,
		MaxBorrow:     -1,
		Logger:        quiet,
	})
}

// OpenDefault starts a default generator with [RoomyLayout].
func OpenDefault() (*uid.Default, error) {
	return uid.NewDefault(context.Background(), uid.StaticWorker(1), uid.Config{
		Layout: RoomyLayout,
		Logger: quiet,
	})
}

// CachedInstance wraps gen, which it closes in the end.
func CachedInstance(gen *uid.Cached) *Instance {
	return &Instance{
		Batch: func(n int) (uint64, error) { return cachedLoop(gen, n) },
		One:   func() (any, error) { return gen.Next() },
		Stats: gen.Stats,
		Close: gen.Close,
	}
}

// DefaultInstance wraps gen, which it closes in the end.
func DefaultInstance(gen *uid.Default) *Instance {
	return &Instance{
		Batch: func(n int) (uint64, error) { return defaultLoop(gen, n) },
		One:   func() (any, error) { return gen.Next() },
		Close: gen.Close,
	}
}
