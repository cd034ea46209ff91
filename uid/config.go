package uid

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/padding"
)

// What a [Config] has where a field is zero.
const (
	DefaultBoostPower    = 3
	DefaultPaddingFactor = 50
	DefaultMaxBorrow     = 24 * time.Hour
	DefaultMaxBackward   = 5 * time.Millisecond
)

// MaxBoostPower is the greatest Config.BoostPower: the slots of the ring,
// 2^BoostPower of them, are then the most that it may have.
const MaxBoostPower = 20

// Config is what a generator can be told. The zero Config is the default, and so
// is every zero field. A field that means nothing to the generator at hand is
// refused, not ignored. All faults are reported at once, by the field's name and
// the values that it takes, in an error that matches [ErrConfig].
type Config struct {
	// Layout is how ids are laid out; zero is [bits.Default]. It answers to
	// timeBits, workerBits, seqBits and epochStr of uid-generator.
	Layout bits.Layout

	// BoostPower sizes the ring of Cached: it holds the ids of 2^BoostPower
	// ticks. From 1 to 20; zero is 3. It answers to boostPower.
	BoostPower int

	// PaddingFactor is the fill, in per cent of the ring of Cached, below which
	// it is filled again. It is looked at when a tick's ids begin to be dealt,
	// by what is left behind them. From 1 to 99; zero is 50. It answers to
	// paddingFactor.
	PaddingFactor int

	// Schedule is when Cached fills its ring whether or not it is low, and drops
	// what is older than MaxAge: a cron specification, or an interval of a
	// second or more, such as "@every 1m". Empty is never. It answers to
	// scheduleInterval.
	Schedule string

	// MaxBorrow bounds how far ahead of the clock Cached stamps ids; zero is 24
	// hours, negative is without bound; less than a tick is not at all. At the
	// bound it makes ids at the pace of the clock, and RejectedTake says what a
	// take does then. It is reckoned from the latest time that the clock has
	// shown: while a clock that stepped back is behind that, the bound does not
	// move. A leased number that a crash left reserved ahead is of no use until
	// the end of that is no further ahead than this, and NewCached fails until
	// then: keep it above the Leaser's window.
	MaxBorrow time.Duration

	// MaxAge is how long after its time an id in the ring of Cached may still be
	// dealt: when Schedule is due, older ones are dropped, which leaves a gap and
	// an empty ring for the moment that it takes to fill it. Zero keeps them. It
	// needs a Schedule.
	MaxAge time.Duration

	// MaxBackward is how far back of its last id Default lets the clock step: it
	// waits that out, and refuses beyond it with [ErrClockBackward]. Zero is 5
	// milliseconds, negative waits out nothing. Cached has no use for it.
	MaxBackward time.Duration

	// RejectedPut is called by Cached with ids that its ring refused, and why.
	// That happens when the ring is closed while it is being filled. The ids
	// are never issued. Nil does nothing. It answers to
	// RejectedPutBufferHandler.
	RejectedPut func(first ID, n int64, err error)

	// RejectedTake says what becomes of a take from Cached that finds no id
	// ready: [Help], the default, [Reject], [Wait], or a function of your own.
	// It answers to RejectedTakeBufferHandler.
	RejectedTake func(Refusal) error

	// Now is the clock; nil is [time.Now]. It must not block, and may be called
	// from several goroutines at once.
	Now func() time.Time

	// Logger takes warnings; nil is [slog.Default]. Nothing is logged for an id.
	Logger *slog.Logger
}

// kind is which generator a config is for.
type kind int

const (
	kindDefault kind = iota
	kindCached
)

// prepare returns the config with every default filled in, or an error that
// reports all of its faults.
func (c Config) prepare(k kind) (Config, error) {
	var faults []error
	fault := func(field string, value any, want string) {
		faults = append(faults, fmt.Errorf("%w: %s is %v, want %s", ErrConfig, field, value, want))
	}
	foreign := func(field string, set bool, generator string) {
		if set {
			faults = append(faults, fmt.Errorf("%w: %s is set, want it unset: it means nothing to %s", ErrConfig, field, generator))
		}
	}

	if c.Layout == (bits.Layout{}) {
		c.Layout = bits.Default
	}
	if err := c.Layout.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("%w: Layout: %w", ErrConfig, err))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())

	switch k {
	case kindDefault:
		foreign("BoostPower", c.BoostPower != 0, "Default")
		foreign("PaddingFactor", c.PaddingFactor != 0, "Default")
		foreign("Schedule", c.Schedule != "", "Default")
		foreign("MaxBorrow", c.MaxBorrow != 0, "Default")
		foreign("MaxAge", c.MaxAge != 0, "Default")
		foreign("RejectedPut", c.RejectedPut != nil, "Default")
		foreign("RejectedTake", c.RejectedTake != nil, "Default")
		c.MaxBackward = cmp.Or(c.MaxBackward, DefaultMaxBackward)
	case kindCached:
		foreign("MaxBackward", c.MaxBackward != 0, "Cached, which a clock that steps back does not disturb")
		c.BoostPower = cmp.Or(c.BoostPower, DefaultBoostPower)
		c.PaddingFactor = cmp.Or(c.PaddingFactor, DefaultPaddingFactor)
		c.MaxBorrow = cmp.Or(c.MaxBorrow, DefaultMaxBorrow)
		if c.RejectedTake == nil {
			c.RejectedTake = Help
		}
		if c.BoostPower < 1 || c.BoostPower > MaxBoostPower {
			fault("BoostPower", c.BoostPower, fmt.Sprintf("1 to %d", MaxBoostPower))
		} else if int(c.Layout.SequenceBits)+c.BoostPower > 62 {
			fault("BoostPower", c.BoostPower, fmt.Sprintf("it and SequenceBits, %d, to add up to at most 62", c.Layout.SequenceBits))
		}
		if c.PaddingFactor < 1 || c.PaddingFactor > 99 {
			fault("PaddingFactor", c.PaddingFactor, "1 to 99 per cent")
		}
		schedule, err := padding.ParseSchedule(c.Schedule)
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: Schedule: %w", ErrConfig, err))
		}
		if c.MaxAge < 0 {
			fault("MaxAge", c.MaxAge, "0, to keep ids for ever, or more")
		}
		if c.MaxAge > 0 && schedule == nil && err == nil {
			fault("MaxAge", c.MaxAge, `a Schedule with it, such as "@every 1m", at which older ids are dropped`)
		}
	}
	return c, errors.Join(faults...)
}
