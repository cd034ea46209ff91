//go:build linux

package torture

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/servertest"
)

// What the nemesis does to the database, one action at a time.

// havoc runs f in the background, after the present action and a pause.
func (n *nemesis) havoc(f func() error) {
	quiet := n.between(expiry/2, window/2)
	n.database.Lock()
	_ = sleep(n.ctx, quiet)
	n.going.Go(func() {
		defer n.database.Unlock()
		if err := f(); err != nil && n.ctx.Err() == nil {
			n.fail(err)
		}
	})
}

// quiet is a pause for the database.
func quiet(n *nemesis) {
	n.havoc(func() error { return sleep(n.ctx, window) })
}

// outage kills a server, or all, and restarts them. Committed writes are on the disk.
func outage(n *nemesis) {
	d := n.between(expiry/4, window*3/2)
	victims := n.backend.servers
	if n.rng.IntN(3) > 0 {
		i := n.rng.IntN(len(victims))
		victims = victims[i : i+1]
	}
	n.havoc(func() error {
		for _, s := range victims {
			s.End(syscall.SIGKILL)
		}
		_ = sleep(n.ctx, d)
		n.note("server outages", 1)
		return startAll(n.ctx, victims)
	})
}

// lock locks the file, so that nobody else can write it, or even read it.
func lock(n *nemesis) { n.lock(n.between(expiry, window*3/2)) }

// longLock locks it for so long that all reserved time is used up.
func longLock(n *nemesis) { n.lock(2 * window) }

func (n *nemesis) lock(d time.Duration) {
	begin := "BEGIN IMMEDIATE"
	if n.rng.IntN(2) == 0 {
		begin = "BEGIN EXCLUSIVE"
	}
	n.havoc(func() (err error) {
		for n.ctx.Err() == nil { // until nobody else has the lock
			if err = n.locked(begin, d); err == nil {
				break
			}
		}
		return err
	})
}

// locked locks the file for d. It fails while another has the lock.
func (n *nemesis) locked(begin string, d time.Duration) error {
	db, err := dbtest.Open(n.backend.url(nil))
	if err != nil {
		return err
	}
	defer dbtest.Close(db)
	return db.WithContext(context.WithoutCancel(n.ctx)).Connection(func(conn *gorm.DB) error {
		if err := conn.Exec(begin).Error; err != nil {
			return err
		}
		_ = sleep(n.ctx, d)
		n.note("file locks", 1)
		return conn.Exec("ROLLBACK").Error
	})
}

// cut ends all connections to the server, or those of one seat.
func cut(n *nemesis) {
	links := n.some()
	n.havoc(func() error {
		for _, l := range links {
			n.note("connections cut", l.Drop())
		}
		return nil
	})
}

// blackhole holds back what is sent to the server, from the server, or both. Then it lets
// the bytes through or cuts the connections. While it holds back answers, writes are done
// without an answer. When it lets requests through, some writes are done long after their
// process gave them up.
func blackhole(n *nemesis) {
	d := n.between(expiry, window*3/2)
	links := n.some()
	ways := [][]servertest.Way{{servertest.ToServer}, {servertest.FromServer}, {servertest.ToServer, servertest.FromServer}}[n.rng.IntN(3)]
	through := n.rng.IntN(2) == 0
	n.havoc(func() error {
		for _, l := range links {
			l.Hold(ways...)
		}
		_ = sleep(n.ctx, d)
		n.note("blackholes", 1)
		for _, l := range links {
			if !through {
				n.note("connections cut", l.Drop())
			} else if err := l.Mend(); err != nil {
				return err
			}
		}
		return nil
	})
}

// some returns all links, or those of one seat.
func (n *nemesis) some() []*servertest.Link {
	if n.rng.IntN(2) == 0 {
		return n.backend.links[n.rng.IntN(len(n.seats))]
	}
	return slices.Concat(n.backend.links...)
}

// enough is how far below all processes the counter is set, so that each refuses its
// ranges, however often they reserve: see uid.ErrRewound.
const enough = 10 * mostStep

// restore restores the counter from a copy, while all processes hold higher ids. Each
// process refuses the counter's ranges. Then, as package segment asks for, the processes
// end, the counter is raised above the greatest id in use, and others start.
func restore(n *nemesis) {
	n.database.Lock()
	defer n.database.Unlock()
	drawing := n.seats[stamps:]
	for _, s := range drawing {
		for !n.mine(s, anybody) {
			if sleep(n.ctx, 20*time.Millisecond) != nil {
				return
			}
		}
		defer n.give(s)
	}
	all := func(so func(p *process) bool) bool {
		for slices.ContainsFunc(drawing, func(s *seat) bool { return !so(s.now) }) {
			if sleep(n.ctx, 20*time.Millisecond) != nil {
				return false
			}
		}
		return true
	}
	if !all(func(p *process) bool { return p.reached.Load() >= n.copied+enough }) {
		return
	}
	for _, s := range drawing {
		s.now.refuses.Store(true)
	}
	if err := n.backend.with(n.ctx, func(a *access) error { return a.rewind(n.ctx, n.copied) }); err != nil {
		n.fail(err)
		return
	}
	if !all(func(p *process) bool { return p.rewound.Load() }) {
		return
	}
	var ending sync.WaitGroup
	for _, s := range drawing {
		ending.Go(func() { n.leave(s.now) })
	}
	ending.Wait()
	if err := n.backend.with(n.ctx, n.recover); err != nil {
		n.fail(err)
		return
	}
	n.note("counter restored", 1)
	for _, s := range drawing {
		n.launch(s)
	}
}

// recover raises the counter above the greatest id that was ever drawn. All processes that
// drew ids have ended.
func (n *nemesis) recover(a *access) error {
	n.mu.Lock()
	processes := slices.Clone(n.processes)
	n.mu.Unlock()
	greatest := int64(0)
	for _, p := range processes {
		if p.Kind == kindCounter {
			for _, s := range slices.Concat(p.spans[:]...) {
				greatest = max(greatest, s.first+s.n-1)
			}
		}
	}
	ctx, cancel := context.WithTimeout(n.ctx, openFor)
	defer cancel()
	next, err := a.counters.Raise(ctx, tag, greatest+1)
	n.copied = next
	return err
}
