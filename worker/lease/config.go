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

// Defaults of the fields of [Config].
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

// Range is the numbers From through To.
type Range struct{ From, To int64 }

// Config configures a [Leaser]. A zero field means its default. A single error, which matches
// [ErrConfig], names every invalid field with its value and the allowed values.
type Config struct {
	// Window is how much time a Leaser keeps reserved beyond the present and the last id stamped.
	// If the store is unavailable, ids last that long at the layout's rate or below; a service that
	// draws faster uses the window up faster. After a crash, the number's next holder starts up to
	// Window after the last write. From 100 ms to a year, and no shorter than Expiry; zero means 10
	// minutes, or Expiry if Assigner is set, because a longer Window makes the next holder of an
	// assigned number wait.
	Window time.Duration

	// Expiry is how long a holder may go without a heartbeat before another may take its number.
	// A holder sends four heartbeats per Expiry. With a short Expiry a paused holder loses its
	// number; with a long one a dead holder blocks its number. Neither repeats an id. Give all
	// processes the same Expiry. From 100 ms to a year; zero means a minute.
	Expiry time.Duration

	// MaxSkew is how far the clock that stamps ids may differ from the store's clock when a holder
	// starts. Later, a greater difference is only logged. If the store has no clock, the time since
	// the holder started stands in for it. From 100 ms to a year; zero means a minute.
	MaxSkew time.Duration

	// Numbers are the numbers that the Leaser may hold, such as those of one site: see
	// bits.Allocator.WorkerRange. Nil means all that the layout allows. Leasers that share a store
	// must have equal or disjoint Numbers. If another range has given out some of these numbers,
	// the Leaser logs a warning, but no id repeats.
	Numbers *Range

	// Assigner chooses the number to hold; nil means any free number. worker.NewStatefulSet and
	// uid.NewStaticWorker return assigners. While another process holds the number, Leaser.Lease
	// logs one line and waits, as long as its context allows, until the holder's lease expires. If
	// the holder sends a heartbeat, Lease fails with ErrHeld.
	//
	// After a crash, the next holder starts where the crashed holder's reserved time ends. If that
	// is further ahead of the clock than MaxBorrow, uid.Cached fails to start until the clock has
	// come closer; uid.Default waits until the clock reaches that time.
	//
	// An assigned number n counts as the range from n to n. A Leaser whose Numbers contain n may
	// take n first, and gets no new numbers below n afterwards. If Numbers is also set and does
	// not contain n, Leaser.Lease fails.
	Assigner Assigner

	// Node describes the process in the row. Zero means what DetectNode returns.
	Node Node

	// Logger receives warnings and number changes; nil means slog.Default when logging. Its
	// handler may draw ids from the Leaser's generator, since a separate goroutine writes the
	// lines. Release waits for them until its context is done.
	Logger *slog.Logger
}

// Validate returns an error that names every invalid field, and matches [ErrConfig].
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
