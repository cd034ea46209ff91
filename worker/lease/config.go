package lease

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/uidring/uidring/internal/invalid"
)

// The defaults of fields of [Config].
const (
	DefaultWindow  = 10 * time.Minute
	DefaultExpiry  = time.Minute
	DefaultMaxSkew = time.Minute
)

const (
	minDuration = 100 * time.Millisecond
	maxDuration = 365 * 24 * time.Hour
)

// ErrConfig is matched by every error about a [Config], a [Node], or the config of a store.
var ErrConfig = errors.New("lease: invalid config")

// Range is the numbers from From to To, both included.
type Range struct{ From, To int64 }

// Config configures a [Leaser]. Every zero field is a default. One error, which matches
// [ErrConfig], names every wrong field, its value and the values that are allowed.
type Config struct {
	// Window is how far ahead of the present, and of the last id stamped, a Leaser keeps
	// time reserved. If the store is unavailable, ids continue for that long at the
	// layout's rate or slower; a service that draws faster uses the window faster. The
	// next holder of a crashed holder's number starts up to Window after the last write.
	// From 100 ms to a year, and no shorter than Expiry; zero is 10 minutes, and Expiry if
	// Assigner is set: a longer Window makes the next holder of an assigned number wait.
	Window time.Duration

	// Expiry is how long a holder may give no sign of life before another may take its
	// number. A holder gives four signs of life per Expiry. A short Expiry costs a paused
	// holder its number, a long one keeps a dead holder's number from use; neither repeats
	// an id. Give all processes the same Expiry. From 100 ms to a year; zero is a minute.
	Expiry time.Duration

	// MaxSkew is how far the clock that stamps ids may be from the store's clock at the
	// start. Later, a greater difference is only logged. Without a clock in the store, the Leaser
	// compares with the time that has passed since its start. From 100 ms to a year; zero is a
	// minute.
	MaxSkew time.Duration

	// Numbers are the numbers that the Leaser may hold, such as those of one site: see
	// bits.Allocator.WorkerRange. Nil is all that the layout allows. Leasers that share a
	// store must have the same Numbers, or Numbers without a common number. A start logs a warning
	// if another range has given some of its numbers; no id repeats then.
	Numbers *Range

	// Assigner gives the one number to hold; nil holds any free number. worker.NewStatefulSet
	// and uid.NewStaticWorker are assigners. While another process holds the number, the start
	// waits until the holder's lease expires, as long as its context allows, and logs one line.
	// When the holder gives a sign of life, the start fails with ErrHeld.
	//
	// After a crash the next holder starts where the crashed holder's reserved time ends. If
	// that is further ahead of the clock than MaxBorrow of uid.Cached, the start fails until the
	// clock has come closer; ids of uid.Default begin then.
	//
	// The number n counts as Numbers of its own, from n to n. A Leaser whose Numbers contain n
	// may take n first, and gets no new numbers below n afterwards. If Numbers is set too and
	// lacks n, the start fails.
	Assigner Assigner

	// Node is the process's description in the row. Zero is DetectNode's.
	Node Node

	// Logger receives warnings and changes of number; nil is what slog.Default returns at
	// that time. Its handler may draw ids from the Leaser's generator: a goroutine of its
	// own writes the lines. Release waits for the lines until its context ends.
	Logger *slog.Logger
}

// Validate returns an error that names every wrong field, and matches [ErrConfig].
func (c Config) Validate() error { return c.prepare().Err() }

// prepare fills in the defaults and returns the wrong fields.
func (c *Config) prepare() *invalid.List {
	faults := invalid.Of("lease", ErrConfig)
	c.Expiry = cmp.Or(c.Expiry, DefaultExpiry)
	if c.Assigner != nil {
		c.Window = cmp.Or(c.Window, c.Expiry)
	}
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.MaxSkew = cmp.Or(c.MaxSkew, DefaultMaxSkew)
	invalid.Range(faults, "Window", c.Window, minDuration, maxDuration)
	invalid.Range(faults, "Expiry", c.Expiry, minDuration, maxDuration)
	invalid.Range(faults, "MaxSkew", c.MaxSkew, minDuration, maxDuration)
	if c.Window >= minDuration && c.Window < c.Expiry && c.Expiry <= maxDuration {
		faults.Add("Window", c.Window, fmt.Sprintf("Expiry, %v, or more", c.Expiry))
	}
	if c.Numbers == nil {
		c.Numbers = &Range{0, math.MaxInt64}
	}
	if n := *c.Numbers; n.From < 0 || n.To < n.From {
		faults.Add("Numbers", fmt.Sprintf("%d to %d", n.From, n.To), "a range of numbers from 0 on")
	}
	if c.Node != (Node{}) {
		faults.Join(c.Node.Validate())
	}
	return faults
}

func (c *Config) node() (Node, error) {
	if c.Node != (Node{}) {
		return c.Node, nil
	}
	return DetectNode()
}
