//go:build linux

package torture

import (
	"context"
	"syscall"
	"time"

	"github.com/uidring/uidring/internal/database"
)

// What the nemesis does to the database. One such thing happens at a time.

// havoc has f done in the background, once what is being done is over and the
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

// outage kills the server, and starts it again after d. What it had committed is
// on the disk.
func (n *nemesis) outage(d time.Duration) {
	n.havoc(func() error {
		n.backend.server.stop(syscall.SIGKILL)
		_ = sleep(n.ctx, d)
		n.note(func(t *tally) { t.outages++ })
		return n.backend.server.start(n.ctx)
	})
}

// lock keeps everybody else from writing the file, or even from reading it.
func (n *nemesis) lock(d time.Duration) {
	begin := "BEGIN IMMEDIATE"
	if n.rng.IntN(2) == 0 {
		begin = "BEGIN EXCLUSIVE"
	}
	n.havoc(func() error {
		db, err := n.backend.connect(n.ctx)
		if err != nil {
			return err
		}
		defer database.Close(db)
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

// some are all proxies, or one.
func (n *nemesis) some() []*proxy {
	if n.rng.IntN(2) == 0 {
		i := n.rng.IntN(len(n.backend.proxies))
		return n.backend.proxies[i : i+1]
	}
	return n.backend.proxies
}
