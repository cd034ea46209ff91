package segment

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

// The defaults of fields of [Config] and [StripedConfig].
const (
	DefaultStep        = 1000 // of a counter that Create makes
	DefaultMaxStep     = 1 << 30
	DefaultAhead       = 10 * time.Minute
	DefaultLoadAt      = 10
	DefaultLoadTimeout = 5 * time.Second
	DefaultBlock       = 1000
)

// MaxStep bounds Config.MaxStep, and with it Step and StripedConfig.Block.
const MaxStep = 1 << 40

// ErrConfig is matched by every error about a config of this package, or of a store, and when a
// store has counters of the tag whose ids would repeat: they were made for another number of
// stores, another order of stores or another Block, or one is of [Striped] and the other of [New]
// or [Tags].
var ErrConfig = errors.New("segment: invalid config")

// Config configures a [Counter]. Zero fields are defaults.
type Config struct {
	// Create makes New create the counter and its table if they are missing. Create
	// cannot tell a new counter from a lost one: it restarts a lost counter at 1, and
	// ids repeat. In production, create counters once: uidring segments create.
	Create bool

	// Step is how many ids the first range has, from MinStep to MaxStep. Zero is the
	// store's own step, such as the column step of a row. The store's step is then MinStep
	// too, and may change while the generator runs.
	Step int64

	// MinStep and MaxStep bound how many ids a range has, from 1 to 2^40. The zero MinStep
	// is Step. The zero MaxStep is 2^30, or Step if that is greater.
	MinStep, MaxStep int64

	// Ahead is how long a range lasts at the measured rate, more than 0. If the store is
	// unavailable, ids continue for nearly that long. Zero is 10 minutes.
	Ahead time.Duration

	// LoadAt is the used part of a range, in per cent, at which the generator loads
	// the next range. From 1 to 99; zero is 10.
	LoadAt int

	// LoadTimeout bounds how long a call waits for a load. After that, calls that find no id
	// fail at once, until the store has answered. Zero is 5 seconds.
	LoadTimeout time.Duration

	// Limit is the greatest id, from 1 to 2^63-2, the greatest that a BIGINT counter allows. Zero is
	// 2^63-2. Use 2^53-1 if JavaScript reads the ids as numbers.
	Limit int64

	// RejectedTake decides what a call does when no id is loaded. [uid.PolicyHelp], the
	// default, waits for a load that is under way, and fails while the store is
	// unavailable. [uid.PolicyReject] fails at once. [uid.PolicyWait] waits.
	RejectedTake uid.TakePolicy

	// Logger receives warnings; nil is [slog.Default]. Nothing is logged per id. No call
	// waits for the handler, which may draw ids from the generator; Close waits for it.
	Logger *slog.Logger
}

// Validate returns an error that names every wrong field, and matches [ErrConfig].
func (c Config) Validate() error { return c.prepare().Err() }

// prepare fills in the defaults and returns the wrong fields.
func (c *Config) prepare() *invalid.List {
	faults := invalid.Of("segment", ErrConfig)
	c.Ahead = cmp.Or(c.Ahead, DefaultAhead)
	c.LoadAt = cmp.Or(c.LoadAt, DefaultLoadAt)
	c.LoadTimeout = cmp.Or(c.LoadTimeout, DefaultLoadTimeout)
	c.Limit = cmp.Or(c.Limit, math.MaxInt64-1)
	c.MaxStep = cmp.Or(c.MaxStep, min(max(DefaultMaxStep, c.Step), MaxStep))
	c.Logger = cmp.Or(c.Logger, slog.Default())
	invalid.Range(faults, "MaxStep", c.MaxStep, 1, MaxStep)
	if c.MinStep < 0 || c.MinStep > max(c.MaxStep, 1) {
		faults.Add("MinStep", c.MinStep, fmt.Sprintf("1 to MaxStep, %d, or 0 for Step", c.MaxStep))
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
