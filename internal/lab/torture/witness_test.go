//go:build linux

package torture

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// leaser is what gives a child its number.
type leaser string

const (
	leaserRanged   leaser = ""         // lease.New, with few numbers
	leaserWide     leaser = "wide"     // lease.New, with any number
	leaserRegistry leaser = "registry" // worker.NewRegistry
	leaserForeign  leaser = "foreign"  // rows that are inserted as another language's Registry does
)

// recorded reports whether the child reports each write to its row. Of the others, ids are
// compared only with all ids.
func (l leaser) recorded() bool { return l == leaserRanged || l == leaserWide }

// leaser returns what gives the child its number. The history knows a lease by the process
// and the attempt.
func (c *child) leaser(attempt int64) uid.WorkerSource {
	config := lease.Config{Expiry: expiry, Window: window, Logger: silent}
	store := c.access.leases
	switch c.Leaser {
	case leaserRegistry:
		config := worker.RegistryConfig{Logger: silent}
		if c.Fault == faultBeside {
			config.Prefix = "apart_"
		}
		return worker.NewRegistry(c.access.sql, config)
	case leaserForeign:
		return lease.NewPermanent(foreign{c.access.sql})
	case leaserWide:
	default:
		config.Numbers = &lease.Range{From: 0, To: numbers - 1}
	}
	config.Node = lease.Node{Host: c.Host, Port: strconv.FormatInt(attempt, 10), Type: lease.NodeActual}
	c.lease = &witness{Leaser: lease.New(&ledger{store, c, attempt}, config), child: c, attempt: attempt}
	c.lease.number.Store(-1)
	return c.lease
}

// foreign is a Registry in another language. It inserts a row as uid-generator does, and reads nothing.
type foreign struct{ db *gorm.DB }

func (f foreign) Assign(ctx context.Context, _ int64) (key int64, err error) {
	const insert = "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) " +
		"VALUES ('java', '1463725200000-7', 2, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
	last := map[string]string{"mysql": "SELECT LAST_INSERT_ID()", "sqlite": "SELECT LAST_INSERT_ROWID()"}[f.db.Name()]
	err = f.db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		if last == "" {
			return tx.Raw(insert + " RETURNING id").Scan(&key).Error
		}
		return errors.Join(tx.Exec(insert).Error, tx.Raw(last).Scan(&key).Error)
	})
	return key, err
}

// ledger is a store that reports each write to the parent before it writes.
type ledger struct {
	leasestore.Preparer
	child   *child
	attempt int64
}

// Insert reports a number that was never given as -1: the row that has the token shows it.
func (l *ledger) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	done, err = l.write("", w, func() (done bool, err error) {
		number, done, err = l.Preparer.Insert(ctx, w)
		return done, err
	})
	return number, done, err
}

func (l *ledger) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	return l.write(old, w, func() (bool, error) { return l.Preparer.Swap(ctx, old, w) })
}

func (l *ledger) write(old string, w leasestore.Write, do func() (bool, error)) (bool, error) {
	l.child.say(recordWrite, w.Token+" "+old, l.attempt, w.Number, w.Until, int64(w.Change))
	done, err := do()
	if done && err == nil {
		l.child.say(recordDone, w.Token)
	}
	return done, err
}

// witness is a lease.Leaser that records its grants, and breaks the protocol if the
// child's order says so.
type witness struct {
	*lease.Leaser
	child   *child
	attempt int64
	number  atomic.Int64 // that was granted last; -1 is none so far
	from    atomic.Int64 // of the last grant, in milliseconds since 1970
}

var _ uid.WorkerSource = (*witness)(nil)

// The faults that can be seeded.
const (
	faultFloor   = "floor"   // a new holder does not start where the last one's time ends
	faultWindow  = "window"  // a holder stamps beyond the time that is reserved
	faultRelease = "release" // a number is given back with an end below its last tick
	faultReturn  = "return"  // ids of the counter are given back though others have reserved since
	faultBeside  = "beside"  // Registries draw from a counter of their own
)

// Lease implements lease.Leaser.
func (w *witness) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	granted := r.Granted
	r.Granted = func(g lease.Grant) {
		number := g.Number
		if !g.Held {
			number = -1
		}
		if errors.Is(g.Err, lease.ErrRewound) { // nobody does that here
			w.child.say(recordFatal, g.Err.Error())
		}
		w.from.Store(millis(g.From))
		w.child.say(recordGrant, "", w.attempt, number, millis(g.From), millis(g.Until))
		if number >= 0 {
			if before := w.number.Swap(number); before >= 0 && before != number {
				w.child.say(recordEvent, "number changes", 1)
			}
			switch w.child.Fault {
			case faultFloor:
				g.From = time.Time{}
			case faultWindow:
				g.Until = g.Until.Add(time.Hour)
			}
		}
		granted(g)
	}
	held, err := w.Leaser.Lease(ctx, r)
	if err == nil && w.child.Fault == faultRelease {
		held = &hasty{held}
	}
	return held, err
}

// hasty is a lease that gives back time whose ticks were stamped.
type hasty struct{ lease.Lease }

func (h *hasty) Release(ctx context.Context, next time.Time) error {
	return h.Lease.Release(ctx, next.Add(-time.Hour))
}

// reserver is a store of counters. It reports each range to the parent before ids of the
// range are issued, and each return before it returns ids.
type reserver struct {
	counters
	child *child
}

func (r *reserver) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	first, count, err = r.counters.Reserve(ctx, tag, n)
	if err == nil {
		r.child.say(recordRange, "", first, count)
	}
	return first, count, err
}

func (r *reserver) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	r.child.say(recordReturn, "", first, next)
	if r.child.Late {
		_ = sleep(ctx, 2*ahead) // the others reserve meanwhile
	}
	if r.child.Fault == faultReturn {
		return true, r.child.access.rewind(ctx, first)
	}
	done, err = r.counters.Return(ctx, tag, first, next)
	for range 3 {
		if r.child.Late && !done && err == nil { // nothing has changed, so it may come again
			_ = sleep(ctx, ahead/4)
			done, err = r.counters.Return(ctx, tag, first, next)
		}
	}
	if done {
		r.child.say(recordEvent, "ids returned to the counter", next-first)
	}
	return done, err
}

// millis returns t in milliseconds since 1970, and 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
