package lease

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Defaults of the fields of [Config].
const (
	DefaultWindow = 10 * time.Minute
	DefaultExpiry = time.Minute
)

const (
	minDuration = 100 * time.Millisecond
	maxDuration = 365 * 24 * time.Hour
)

// ErrConfig is matched by every error about a [Config], a [Node], or the config of a store. It is
// the same as uid.ErrConfig.
var ErrConfig = invalid.ErrConfig

// A Range holds the numbers From through To, inclusive.
type Range = leasestore.Range

// Config configures a [Leaser]. Zero fields take their default values. A single error, which
// matches [ErrConfig], names every invalid field with its value and the allowed values.
type Config struct {
	// Window is how much time a Leaser keeps reserved beyond the current time or the last stamped
	// id, whichever is later. If the store is unavailable, ids last about that long: package uid has
	// the figures. After a crash, the reserved time stays reserved: the number's next holder stamps ids only with later
	// times. Window must be from 100 ms to a year, and no shorter than Expiry. Zero means 10
	// minutes, so set Window too if Expiry is longer. If Assigner is set, zero means Expiry,
	// because a longer Window makes the next holder of an assigned number wait longer.
	Window time.Duration

	// Expiry is how long a holder may go without a heartbeat before another may take its number. A
	// holder sends at least four heartbeats per Expiry. With a short Expiry, a paused holder loses
	// its number; with a long one, a dead holder blocks its number for longer. In neither case does
	// an id repeat. Give all processes the same Expiry. It must be from 100 ms to a year; zero
	// means a minute.
	Expiry time.Duration

	// MaxSkew is how far the clock that stamps ids may differ from the store's clock when a holder
	// starts. Later, a greater difference is only logged. If the store has no clock, the clock that
	// stamps ids is compared with its own reading at the start plus the time elapsed since then.
	// MaxSkew must be from 100 ms to a year; zero means a minute.
	MaxSkew time.Duration

	// Numbers are the numbers that the Leaser may hold, such as those of one site: see
	// bits.Allocator.WorkerRange. Nil means all that the layout allows. Leasers that share a store
	// should have equal or disjoint Numbers. If some of these numbers have been given out from
	// another range, the Leaser logs a warning, but no id repeats.
	Numbers *Range

	// Assigner chooses the number to hold; nil means any free number. lease.NewStatefulSet and
	// lease.NewStatic return assigners. While another process holds the number, Leaser.Lease
	// logs one line and waits, as long as its context allows, until the holder's lease expires. If
	// the holder sends a heartbeat, Lease fails with ErrHeld.
	//
	// After a crash, the next holder starts where the crashed holder's reserved time ends. If that
	// is ahead of the clock by more than uid.CachedConfig.MaxBorrow, uid.Cached fails to start
	// until the clock is within MaxBorrow of that time; uid.Default waits until the clock reaches
	// it.
	//
	// An assigned number n counts as the range from n to n. A Leaser whose Numbers contain n may
	// take n before the Assigner gives it out. Once n has been given out, that Leaser gets no new
	// numbers below n. If Numbers is also set and does not contain n, Leaser.Lease fails.
	Assigner Assigner

	// Node describes this process in the row of its number. The zero Node means the one that
	// DetectNode returns.
	Node Node

	// Logger receives warnings and number changes; nil means slog.Default at the time of logging.
	// Its handler may draw ids from the Leaser's generator, since a separate goroutine writes the
	// lines. Release waits until they are written or its context is done.
	Logger *slog.Logger
}

// Validate reports every invalid field in one error, which matches [ErrConfig].
func (c Config) Validate() error { return c.prepare().Err() }

// prepare fills in the defaults and returns the wrong fields.
func (c *Config) prepare() *invalid.List {
	faults := invalid.Of("lease")
	c.Expiry = cmp.Or(c.Expiry, DefaultExpiry)
	if c.Assigner != nil {
		c.Window = cmp.Or(c.Window, c.Expiry)
	}
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.MaxSkew = cmp.Or(c.MaxSkew, time.Minute)
	invalid.Range(faults, "Window", c.Window, minDuration, maxDuration)
	invalid.Range(faults, "Expiry", c.Expiry, minDuration, maxDuration)
	invalid.Range(faults, "MaxSkew", c.MaxSkew, minDuration, maxDuration)
	if c.Window >= minDuration && c.Window < c.Expiry && c.Expiry <= maxDuration {
		faults.Add("Window", c.Window, fmt.Sprintf("at least Expiry (%v)", c.Expiry))
	}
	if c.Numbers == nil {
		c.Numbers = &Range{To: math.MaxInt64}
	}
	if n := *c.Numbers; n.From < 0 || n.To < n.From {
		faults.Add("Numbers", fmt.Sprintf("%d to %d", n.From, n.To), "a range from 0 or more, with From at most To")
	}
	if c.Node != (Node{}) {
		faults.Join(checkNode(c.Node))
	}
	return faults
}

func (c *Config) node() (Node, error) {
	if c.Node != (Node{}) {
		return c.Node, nil
	}
	return DetectNode()
}
