//go:build linux

package torture

import (
	"context"
	"slices"
	"syscall"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
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

// outage kills a server, or all, and restarts them after d. Committed writes are on the
// disk.
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

// lock locks the file, so that nobody else can write it, or even read it.
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
		n.note(func(t *tally) { t.locks++ })
		return conn.Exec("ROLLBACK").Error
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

// blackhole holds back what is sent to the server, from the server, or both. Then it lets
// the bytes through or cuts the connections. While it holds back answers, writes are done
// without an answer. When it lets requests through, some writes are done long after their
// process gave them up.
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

// some returns all proxies, or those of one seat.
func (n *nemesis) some() []*proxy {
	if n.rng.IntN(2) == 0 {
		return n.backend.proxies[n.rng.IntN(len(n.seats))]
	}
	return slices.Concat(n.backend.proxies...)
}
