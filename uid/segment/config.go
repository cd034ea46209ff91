package segment

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

// These are the defaults of the fields of [Config] and [StripedConfig].
const (
	DefaultStep        = 1000 // for counters that Create makes; others keep theirs
	DefaultMaxStep     = 1 << 30
	DefaultAhead       = 10 * time.Minute
	DefaultLoadAt      = 10 // percent
	DefaultLoadTimeout = 5 * time.Second
)

// MaxStep is the upper limit for Config.MaxStep, Config.Step and StripedConfig.Block.
const MaxStep = 1 << 40

// Config configures a [Counter]. Zero fields take their default values.
type Config struct {
	// Create says whether New, NewStriped and Tags create a missing counter and its table. They
	// cannot tell a new counter from a lost one: a lost one restarts at 1, and ids repeat. In
	// production, run "uidring segments create" (for Redis, "uidringd segments create") once per
	// counter.
	Create bool

	// Step is the number of ids in the first range, from MinStep to MaxStep. Zero means the store's
	// own step, such as the value in the step column of a row. That step is then also MinStep, and
	// may change while the generator runs.
	Step int64

	// MinStep and MaxStep bound the size of a range. They must be from 1 to 2^40. A zero MinStep
	// means Step. A zero MaxStep means 2^30, or Step if that is greater.
	MinStep, MaxStep int64

	// Ahead is how long a range should last at the measured rate; it must not be negative. If the
	// store becomes unavailable, ids last nearly that long. Zero means 10 minutes.
	Ahead time.Duration

	// LoadAt is the percentage of a range that is used up when the generator loads the next one. It
	// must be from 1 to 99; zero means 10.
	LoadAt int

	// LoadTimeout bounds how long a call waits for a load. After that, Next and NextN fail
	// immediately until the store answers, unless RejectedTake makes them wait. Zero means 5
	// seconds.
	LoadTimeout time.Duration

	// Limit is the greatest id. It must be at least 1; zero means 2^63-2, the most that a BIGINT
	// counter allows. Use 2^53-1 if JavaScript reads the ids as numbers.
	Limit int64

	// RejectedTake decides what a call does when no id is loaded. [uid.PolicyHelp], the default,
	// waits for a load in flight, and fails while the store is unavailable. [uid.PolicyReject]
	// fails immediately. [uid.PolicyWait] waits.
	RejectedTake uid.TakePolicy

	// Logger receives warnings; nil means [slog.Default]. Nothing is logged per id. The handler may
	// draw ids from the generator: no call but Close waits for the handler.
	Logger *slog.Logger
}

// Validate reports every invalid field in one error, which matches [uid.ErrConfig].
func (c Config) Validate() error { return c.prepare().Err() }

// prepare fills in the defaults and returns the wrong fields.
func (c *Config) prepare() *invalid.List {
	faults := invalid.Of("segment")
	c.Ahead = cmp.Or(c.Ahead, DefaultAhead)
	c.LoadAt = cmp.Or(c.LoadAt, DefaultLoadAt)
	c.LoadTimeout = cmp.Or(c.LoadTimeout, DefaultLoadTimeout)
	c.Limit = cmp.Or(c.Limit, math.MaxInt64-1)
	c.MaxStep = cmp.Or(c.MaxStep, min(max(DefaultMaxStep, c.Step), MaxStep))
	c.Logger = cmp.Or(c.Logger, slog.Default())
	invalid.Range(faults, "MaxStep", c.MaxStep, 1, MaxStep)
	if c.MinStep < 0 || c.MinStep > max(c.MaxStep, 1) {
		faults.Add("MinStep", c.MinStep, fmt.Sprintf("1 to MaxStep (%d), or 0 for Step", c.MaxStep))
	}
	switch {
	case c.Step < 0 || c.Step > MaxStep:
		faults.Add("Step", c.Step, fmt.Sprintf("1 to %d, or 0 for the store's own", int64(MaxStep)))
	case c.Step > 0 && (c.Step < c.MinStep || c.Step > c.MaxStep):
		faults.Add("Step", c.Step, fmt.Sprintf("MinStep to MaxStep, %d to %d", max(c.MinStep, 1), c.MaxStep))
	}
	c.MinStep = cmp.Or(c.MinStep, c.Step)
	invalid.Positive(faults, "Ahead", c.Ahead)
	invalid.Range(faults, "LoadAt", c.LoadAt, 1, 99)
	invalid.Positive(faults, "LoadTimeout", c.LoadTimeout)
	invalid.Range(faults, "Limit", c.Limit, 1, math.MaxInt64-1)
	return faults
}
