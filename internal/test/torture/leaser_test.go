//go:build linux

package torture

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// leaser is what gives a child its number.
type leaser string

const (
	leaserRanged   leaser = ""         // lease.New, with few numbers
	leaserBeside   leaser = "beside"   // lease.New, with any number, beside a Registry
	leaserRegistry leaser = "registry" // worker.NewRegistry
	leaserLeaf     leaser = "leaf"     // workerzk.Leaf
)

// recorded reports whether the child reports each write to its row. Of the others, ids are
// compared only with all ids.
func (l leaser) recorded() bool { return l == leaserRanged || l == leaserBeside }

// leaser returns what gives the child its number. The history knows a lease by the process
// and the attempt.
func (c *child) leaser(attempt int64) uid.Leaser {
	config := lease.Config{Expiry: expiry, Window: window, Logger: silent}
	if c.Leaser == leaserLeaf {
		if c.Fault == faultAddress {
			return uid.StaticWorker(int64(c.Port))
		}
		return c.witnessed(c.access.leaf(c.Port, config), attempt)
	}
	store := c.access.leases
	if c.Leaser != leaserRanged {
		var registry *worker.Registry
		if store, registry = c.access.sql.kinds(c.Fault == faultBeside); c.Leaser == leaserRegistry {
			return registry
		}
	} else {
		config.Numbers = &lease.Bounds{From: 0, To: numbers - 1}
	}
	config.Node = lease.Node{Host: c.Host, Port: strconv.FormatInt(attempt, 10), Type: lease.NodeActual}
	if c.Exact >= 0 {
		config.Assigner = uid.StaticWorker(c.Exact)
	}
	return c.witnessed(lease.New(&ledger{store, c, attempt}, config), attempt)
}

func (c *child) witnessed(l *lease.Leaser, attempt int64) *witness {
	c.lease = &witness{Leaser: l, child: c, attempt: attempt}
	c.lease.number.Store(-1)
	return c.lease
}

// logger returns a logger that reports the warnings of a server that does not flush.
func (c *child) logger() *slog.Logger { return slog.New(flushes{slog.DiscardHandler, c}) }

type flushes struct {
	slog.Handler
	child *child
}

func (flushes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (f flushes) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "before they are on the disk") {
		f.child.out.say(recordWarned, "")
	}
	return nil
}
