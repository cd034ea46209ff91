package uid

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	bitlen "math/bits"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/padding"
)

// These are the defaults of the fields of [CachedConfig], [DefaultConfig] and [SlotsConfig].
const (
	DefaultBoostPower    = 3
	DefaultPaddingFactor = 50
	DefaultMaxBorrow     = 24 * time.Hour
	DefaultMaxAge        = time.Minute
	DefaultMaxBackward   = 5 * time.Millisecond
	DefaultSlots         = 256
)

// Unlimited and None are special limits in the configs of this package and its subpackages; zero
// means the default.
const (
	// Unlimited means no limit. Any other negative duration is an error.
	Unlimited time.Duration = -1

	// None is one nanosecond: in effect a limit of zero, unless a tick is 1 ns.
	None time.Duration = 1
)

// These are the bounds on fields of [CachedConfig].
const (
	MaxBoostPower = 20
	MinMaxAge     = 10 * time.Millisecond // the minimum MaxAge other than zero and Unlimited
)

// CachedConfig configures a [Cached] generator. Zero fields take their default values.
type CachedConfig struct {
	// Layout is the layout of ids. Zero means the layout that the store of worker numbers remembers.
	// A new store, and a source without a store, get [bits.Fleet], and a new table of a
	// worker.Registry gets [bits.Registry]. If the store has numbers but remembers no layout, the
	// error matches lease.ErrLayout, and Layout must be set. [Cached.Layout] returns the layout in
	// use, and lease.Leaser.ChangeLayout changes that of a store. [Backfill] cannot make ids for rows
	// older than the layout's Epoch.
	Layout bits.Layout

	// BoostPower, from 1 to 20, sizes the ring, which holds the ids of 2^BoostPower ticks. The ring
	// must not hold more ticks than can be valid at one time: the current one, those up to
	// MaxBorrow ahead, and those up to 7/8 of MaxAge behind. Zero means 3, or less if those limits
	// require it.
	BoostPower int

	// PaddingFactor is the fill level, in percent, below which a background executor refills the
	// ring. The level is checked whenever the ring starts to deal a new tick, and includes only the
	// ids of later ticks. PaddingFactor must be from 1 to 99; zero means 50.
	PaddingFactor int

	// Schedule, such as "@every 1m", says when to fill the ring even if it holds more than
	// PaddingFactor: see [padding.ParseSchedule]. Empty means never.
	Schedule string

	// MaxBorrow limits how far ahead of the clock ids are stamped. Zero means 24 hours; with
	// [None], no id is stamped ahead of the clock, and with [Unlimited], there is no limit. At the
	// limit, new ids appear only as the clock advances, and RejectedTake decides whether calls wait
	// or fail. The limit is relative to the latest time that the clock has shown. If a crashed
	// holder of a leased number reserved time past now+MaxBorrow, NewCached fails until the clock
	// catches up: keep MaxBorrow above lease.Config.Window.
	MaxBorrow time.Duration

	// MaxAge limits the age of ids in the ring. Every MaxAge/8, the executor drops ids that would
	// be too old at the next check, and refills the ring from the current tick. Zero means a
	// minute, and [Unlimited] means that ids never become too old; any other MaxAge must be at
	// least 10 milliseconds.
	MaxAge time.Duration

	// RejectedPut is called with each run of ids that this generator made but will not issue. err
	// matches [ErrStale] for ids that are too old, [ErrWorkerLost] for ids of a lost number, and
	// [ErrClosed] for ids left at Close, which the next holder of a leased number may issue.
	// RejectedPut must not call Close or Shutdown.
	RejectedPut func(run Run, err error)

	// RejectedTake decides what a call does when no id is ready: [PolicyHelp] (the default),
	// [PolicyReject], [PolicyWait], or your own function.
	RejectedTake TakePolicy

	// Now is the clock; nil means [time.Now]. It must not block, and may be called concurrently.
	Now func() time.Time

	// Logger receives warnings; nil means [slog.Default]. Nothing is logged per id.
	Logger *slog.Logger
}

// DefaultConfig configures a [Default] generator. Zero fields take their default values.
type DefaultConfig struct {
	// Layout and Logger mean the same as in [CachedConfig].
	Layout bits.Layout
	Logger *slog.Logger

	// MaxBackward is how far the clock may be behind the last id. Up to MaxBackward, Default waits;
	// beyond that, it fails with [ErrClockBackward]. Zero means 5 milliseconds; with [None], it
	// never waits, and with [Unlimited], it always does.
	MaxBackward time.Duration

	// Now is the clock; nil means the system clock. If Now is set, Default calls it for each id.
	// With the system clock, Default reads the monotonic time for each id, but the wall time only
	// ten times a second. Now must not block, and may be called concurrently.
	Now func() time.Time
}

// prepare fills in the defaults of what all configs have, and returns the wrong fields. A constructor
// has settled the layout before; Validate takes that of a new store.
func prepare(layout *bits.Layout, logger **slog.Logger) *invalid.List {
	*logger = cmp.Or(*logger, slog.Default())
	faults := invalid.Of("uid")
	if *layout == (bits.Layout{}) {
		*layout = bits.Fleet()
	}
	faults.Wrap("Layout", layout.Validate())
	return faults
}

// checkLimit adds a limit that is negative and not [Unlimited].
func checkLimit(faults *invalid.List, name string, limit time.Duration) {
	if limit < 0 && limit != Unlimited {
		faults.Add(name, limit, fmt.Sprintf("%v for no limit, 0 for the default, or more", Unlimited))
	}
}

// Validate reports every invalid field in one error, which matches [ErrConfig].
func (c DefaultConfig) Validate() error { return c.prepare().Err() }

func (c *DefaultConfig) prepare() *invalid.List {
	faults := prepare(&c.Layout, &c.Logger)
	checkLimit(faults, "MaxBackward", c.MaxBackward)
	switch c.MaxBackward = cmp.Or(c.MaxBackward, DefaultMaxBackward); c.MaxBackward {
	case None:
		c.MaxBackward = 0
	case Unlimited:
		c.MaxBackward = math.MaxInt64
	}
	return faults
}

// Validate reports every invalid field in one error, which matches [ErrConfig].
func (c CachedConfig) Validate() error {
	_, faults := c.prepare()
	return faults.Err()
}

func (c *CachedConfig) prepare() (padding.Schedule, *invalid.List) {
	faults := prepare(&c.Layout, &c.Logger)
	c.PaddingFactor = cmp.Or(c.PaddingFactor, DefaultPaddingFactor)
	c.MaxBorrow = cmp.Or(c.MaxBorrow, DefaultMaxBorrow)
	c.MaxAge = cmp.Or(c.MaxAge, DefaultMaxAge)
	switch most := c.mostPower(); {
	case c.BoostPower == 0:
		c.BoostPower = min(DefaultBoostPower, most)
	case c.BoostPower < 1 || c.BoostPower > MaxBoostPower:
		faults.Add("BoostPower", c.BoostPower, fmt.Sprintf("1 to %d", MaxBoostPower))
	case int(c.Layout.SequenceBits)+c.BoostPower > 62:
		faults.Add("BoostPower", c.BoostPower, fmt.Sprintf("at most 62 minus SequenceBits (%d)", c.Layout.SequenceBits))
	case c.BoostPower > most:
		faults.Add("BoostPower", c.BoostPower, fmt.Sprintf("at most %d: a ring of 2^%d ticks of %v never fills with MaxBorrow %v and MaxAge %v",
			most, c.BoostPower, c.Layout.Unit, c.MaxBorrow, c.MaxAge))
	}
	invalid.Range(faults, "PaddingFactor", c.PaddingFactor, 1, 99)
	checkLimit(faults, "MaxBorrow", c.MaxBorrow)
	if c.MaxAge < MinMaxAge && c.MaxAge != Unlimited {
		faults.Add("MaxAge", c.MaxAge, fmt.Sprintf("%v or more, or %v to keep ids forever", MinMaxAge, Unlimited))
	}
	schedule, err := padding.ParseSchedule(c.Schedule)
	faults.Wrap("Schedule", err)
	return schedule, faults
}

// mostPower returns the greatest power of two ticks that the ring can hold at once: the current
// tick, those that may be borrowed, and those that are not too old yet.
func (c *CachedConfig) mostPower() int {
	if c.MaxBorrow < 0 || c.MaxAge < 0 || c.Layout.Unit <= 0 {
		return MaxBoostPower
	}
	ticks := uint64(1 + c.MaxBorrow/c.Layout.Unit + (c.MaxAge-c.MaxAge/8)/c.Layout.Unit)
	return min(bitlen.Len64(ticks)-1, MaxBoostPower)
}
