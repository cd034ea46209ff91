package leasetest

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

var errCut = errors.New("leasetest: the store is cut off")

// cutOff is a store that can be cut off forever, as a killed process is from its store.
type cutOff struct {
	lease.Store
	cut atomic.Bool
}

func (s *cutOff) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	if s.cut.Load() {
		return lease.View{}, errCut
	}
	return s.Store.Look(ctx, within, expiry)
}

func (s *cutOff) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	if s.cut.Load() {
		return nil, 0, errCut
	}
	return s.Store.Read(ctx, number, expiry)
}

func (s *cutOff) Insert(ctx context.Context, w lease.Write) (bool, error) {
	if s.cut.Load() {
		return false, errCut
	}
	return s.Store.Insert(ctx, w)
}

func (s *cutOff) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	if s.cut.Load() {
		return false, errCut
	}
	return s.Store.Swap(ctx, old, w)
}

// How much the adversary does.
const (
	contenders = 6
	lives      = 12 // of each contender
	stamps     = 6  // in each life
	contested  = 3  // numbers
)

// ledger has every instant that was stamped, by number and by life.
type ledger struct {
	mu     sync.Mutex
	stamps map[int64][]stamp
	twice  []string // instants that were stamped twice
}

type stamp struct{ from, until, life int64 }

// note records what a life has stamped.
func (l *ledger) note(number int64, s stamp) {
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

// adversary: holders contend for too few numbers. Answers and requests are lost, holders
// are killed, and numbers are freed while their holders stamp. No instant of a number is
// stamped twice.
func (s Suite) adversary(t *testing.T, open Opener) {
	for _, twice := range s.contend(t, open) {
		t.Error(twice)
	}
}

// contend returns the instants that were stamped twice.
func (s Suite) contend(t *testing.T, open Opener) (twice []string) {
	book := &ledger{stamps: map[int64][]stamp{}}
	var life, taken atomic.Int64
	var contending sync.WaitGroup
	for range contenders {
		store := open(t)
		contending.Go(func() {
			for range lives {
				if s.live(store, book, life.Add(1)) {
					taken.Add(1)
				}
			}
		})
	}
	contending.Wait()
	t.Logf("%d of %d lives held a number", taken.Load(), contenders*lives)
	if taken.Load() < contested {
		t.Errorf("%d lives held a number; want %d or more", taken.Load(), contested)
	}
	return book.twice
}

// live takes a number and stamps instants. Then it releases the number or is cut off.
func (s Suite) live(store lease.Store, book *ledger, life int64) (held bool) {
	cut := &cutOff{Store: lossy{store}}
	leaser := s.leaser(cut, lease.Config{Window: max(s.Expiry, time.Second)})
	// A grant is valid until the next one. Stamping holds the same lock, so that nothing
	// is stamped after a grant has reported a loss.
	var (
		mu    sync.Mutex
		grant lease.Grant
		last  int64 // the end of what this life has stamped of grant's number
	)
	ctx, cancel := context.WithTimeout(context.Background(), 20*s.Expiry+time.Second)
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
		time.Sleep(time.Duration(mathrand.Int64N(int64(s.Expiry))))
		return false
	}
	for range stamps {
		mu.Lock()
		if grant.Held {
			from := max(last, grant.From.UnixMilli(), time.Now().UnixMilli())
			if until := min(grant.Until.UnixMilli(), from+1+mathrand.Int64N(300)); from < until {
				book.note(grant.Number, stamp{from, until, life})
				last = until
			}
		}
		used, number := time.UnixMilli(last), grant.Number
		mu.Unlock()
		l.Use(used, used.Add(time.Second))
		if mathrand.IntN(10) == 0 {
			_ = s.leaser(store).Free(ctx, number, true)
		}
		time.Sleep(time.Duration(mathrand.Int64N(int64(s.Expiry / 4))))
	}
	if mathrand.IntN(3) == 0 {
		cut.cut.Store(true)
	}
	mu.Lock()
	next := time.UnixMilli(last)
	grant = lease.Grant{}
	mu.Unlock()
	ending, end := context.WithTimeout(context.Background(), s.Expiry)
	defer end()
	_ = l.Release(ending, next)
	return true
}
