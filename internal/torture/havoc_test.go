//go:build linux

package torture

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/uidring/uidring/internal/dbtest"
)

// What the nemesis does to the database. One such thing happens at a time.

// havoc runs f in the background, once the current action has ended and the
// database was left alone for a while.
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

// outage kills a server, or all, and starts what it has killed again after d. What
// was committed is on the disk.
func (n *nemesis) outage(d time.Duration) {
	victims := n.backend.servers
	if n.rng.IntN(3) > 0 {
		i := n.rng.IntN(len(victims))
		victims = victims[i : i+1]
	}
	n.havoc(func() error {
		for _, s := range victims {
			s.stop(syscall.SIGKILL)
		}
		_ = sleep(n.ctx, d)
		n.note(func(t *tally) { t.outages++ })
		return startAll(n.ctx, victims)
	})
}

// lock keeps everybody else from writing the file, or even from reading it.
func (n *nemesis) lock(d time.Duration) {
	begin := "BEGIN IMMEDIATE"
	if n.rng.IntN(2) == 0 {
		begin = "BEGIN EXCLUSIVE"
	}
	n.havoc(func() error {
		db, err := dbtest.Open(n.backend.url(nil))
		if err != nil {
			return err
		}
		defer dbtest.Close(db)
		pool, err := db.DB()
		if err != nil {
			return err
		}
		conn, err := pool.Conn(n.ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		for n.ctx.Err() == nil { // until it is this one's turn
			if _, err = conn.ExecContext(n.ctx, begin); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
		_ = sleep(n.ctx, d)
		n.note(func(t *tally) { t.locks++ })
		_, err = conn.ExecContext(context.WithoutCancel(n.ctx), "ROLLBACK")
		return err
	})
}

// cut ends all connections to the server, or those of one seat.
func (n *nemesis) cut() {
	proxies := n.some()
	n.havoc(func() error {
		for _, p := range proxies {
			cut := p.cut()
			n.note(func(t *tally) { t.cut += cut })
		}
		return nil
	})
}

// blackhole holds back what is sent to the server, from it, or both, and then lets
// it through or cuts the connections. With answers held back, writes are done of
// which nobody hears; with what is held back let through, some are done long after
// they were given up.
func (n *nemesis) blackhole(d time.Duration) {
	proxies := n.some()
	ways := [][]int{{toServer}, {fromServer}, {toServer, fromServer}}[n.rng.IntN(3)]
	through := n.rng.IntN(2) == 0
	n.havoc(func() error {
		var resume []func()
		for _, p := range proxies {
			resume = append(resume, p.hold(ways...))
		}
		_ = sleep(n.ctx, d)
		for i, p := range proxies {
			if !through {
				cut := p.cut()
				n.note(func(t *tally) { t.cut += cut })
			}
			resume[i]()
		}
		n.note(func(t *tally) { t.blackholes++ })
		return nil
	})
}

// some are all proxies, or those of one seat.
func (n *nemesis) some() []*proxy {
	if n.rng.IntN(2) == 0 {
		return n.backend.proxies[n.rng.IntN(len(n.seats))]
	}
	return slices.Concat(n.backend.proxies...)
}
