package leasetest

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// How much the adversary does.
const (
	contenders = 6
	lives      = 12 // of each contender; more while too few have held a number
	stamps     = 6  // in each life
	contested  = 3  // numbers
)

type ledger struct {
	mu     sync.Mutex
	stamps map[int64][]span
	twice  []string // instants that were stamped twice
}

type span struct{ from, until, life int64 }

func (l *ledger) note(number int64, s span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.stamps[number] {
		if s.from < b.until && b.from < s.until {
			l.twice = append(l.twice, fmt.Sprintf("life %d stamped [%d, %d) of number %d; life %d had stamped [%d, %d)",
				s.life, s.from, s.until, number, b.life, b.from, b.until))
		}
	}
	l.stamps[number] = append(l.stamps[number], s)
}

// adversary: holders contend for too few numbers. Answers and requests are lost, holders are
// killed, and numbers are freed. No instant of a number is stamped twice.
func (b bench) adversary() {
	for _, twice := range b.contend() {
		b.Error(twice)
	}
}

// alwaysFree: safety does not depend on how the store judges liveness: every number looks free.
func (b bench) alwaysFree() {
	open := b.open
	b.open = func(t *testing.T) leasestore.Store { return liar{open(t)} }
	b.adversary()
}

func (b bench) contend() (twice []string) {
	book := &ledger{stamps: map[int64][]span{}}
	var life, taken atomic.Int64
	stores := b.handles(contenders)
	holdertest.Together(contenders, func(i int) {
		own := b
		own.Store = stores[i]
		for lived := 0; lived < lives || lived < 100*lives && taken.Load() < contested; lived++ {
			if own.live(book, life.Add(1)) {
				taken.Add(1)
			}
		}
	})
	b.Logf("%d of %d lives held a number", taken.Load(), life.Load())
	if taken.Load() < contested {
		b.Errorf("%d lives held a number; want %d or more", taken.Load(), contested)
	}
	return book.twice
}

// live takes a number and stamps instants. Then it releases the number or is killed.
func (b bench) live(book *ledger, life int64) (held bool) {
	leaser := b.leaser(lossy(b.Store), lease.Config{Window: max(b.suite.Expiry, time.Second)})
	// A grant is valid until the next one. Stamping holds the same lock, so that nothing
	// is stamped after a grant has reported a loss.
	var (
		mu    sync.Mutex
		grant lease.Grant
		last  int64 // the end of what this life has stamped of grant's number
	)
	ctx, cancel := context.WithTimeout(context.Background(), 20*b.suite.Expiry+10*time.Second) // on a busy server, a first request takes seconds
	defer cancel()
	l, err := leaser.Lease(ctx, lease.Request{Limit: contested - 1, Clock: time.Now, Granted: func(g lease.Grant) {
		mu.Lock()
		defer mu.Unlock()
		if g.Held && (!grant.Held || g.Number != grant.Number) {
			last = 0
		}
		grant = g
	}})
	if err != nil { // the dead hold all numbers until they expire
		time.Sleep(time.Duration(mathrand.Int64N(int64(b.suite.Expiry))))
		return false
	}
	for range stamps {
		mu.Lock()
		if grant.Held {
			from := max(last, grant.From.UnixMilli(), time.Now().UnixMilli())
			if until := min(grant.Until.UnixMilli(), from+1+mathrand.Int64N(300)); from < until {
				book.note(grant.Number, span{from, until, life})
				last = until
			}
		}
		used, number := time.UnixMilli(last), grant.Number
		mu.Unlock()
		l.Use(used, used.Add(time.Second))
		if mathrand.IntN(10) == 0 {
			_ = b.leaser(b.Store).Revoke(ctx, number)
		}
		time.Sleep(time.Duration(mathrand.Int64N(int64(b.suite.Expiry / 4))))
	}
	mu.Lock()
	next := time.UnixMilli(last)
	grant = lease.Grant{}
	mu.Unlock()
	ending, end := context.WithTimeout(context.Background(), b.suite.Expiry)
	defer end()
	if mathrand.IntN(3) == 0 {
		end() // killed: it gives nothing back
	}
	_ = l.Release(ending, next)
	return true
}

type liar struct{ leasestore.Store }

func (l liar) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	view, err := l.Store.Look(ctx, within, full, expiry)
	if err != nil {
		return leasestore.View{}, err
	}
	rows, err := l.List(ctx, 0, expiry)
	for i := range rows {
		rows[i].State = leasestore.StateFree
	}
	return leasestore.NewView(view.Now, rows, map[int64]int64{within.From: view.Next}, within), err
}

func (l liar) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	row, now, err := l.Store.Read(ctx, number, expiry)
	if row != nil {
		row.State = leasestore.StateFree
	}
	return row, now, err
}
