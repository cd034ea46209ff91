package uid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// Close tells where the next holder may start: at the tick of the first id that
// was not issued, or the one after it if others of that tick were.
func TestCloseGivesBackTheRest(t *testing.T) {
	for taken, want := range map[int]int64{0: 5, 1: 6, 2: 6, 3: 7, 15: 13, 16: 13} {
		config, _ := leased()
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := cachedUnder(t, f, config)
		for range taken {
			mustNext(t, gen)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := gen.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(f.released) != 1 {
			t.Errorf("after %d ids: given back %d times, want once", taken, len(f.released))
		}
		for _, next := range f.released {
			// After 15 ids the ring was filled again, so tick 12 is not the last.
			if !next.Equal(at(want)) {
				t.Errorf("after %d ids: given back from %v, want %v, tick %d", taken, next, at(want), want)
			}
		}
	}
	config, c := leased()
	f := &fakeLeaser{number: 7, until: at(100), releaseErr: errors.New("database unavailable")}
	gen := defaultUnder(t, f, config)
	mustNext(t, gen)
	c.step(time.Second)
	mustNext(t, gen)
	if err := gen.Close(); err != f.releaseErr {
		t.Errorf("Close() = %v, want %v", err, f.releaseErr)
	}
	if !f.released[0].Equal(at(7)) {
		t.Errorf("given back from %v, want tick 7", f.released[0])
	}
	if _, err := gen.Next(); err != uid.ErrClosed {
		t.Errorf("Next() = %v, want ErrClosed", err)
	}
	if stats := gen.Stats(); stats.Issued != 2 {
		t.Errorf("%+v", stats)
	}
}

// Close gives back the tick of a run that was made and had not reached the ring.
func TestCloseGivesBackTheTickOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, c := leased()
		h := holdUp(c)
		config.Now = h.now
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := cachedUnder(t, f, config)
		synctest.Wait() // the ring is full
		h.armed.Store(true)
		for taken := range 16 {
			if taken == 15 {
				<-h.reading // the ring was low, so that tick 13 is being made
			}
			mustNext(t, gen)
		}
		closed := make(chan error)
		go func() { closed <- gen.Close() }()
		synctest.Wait() // the ring is closed
		close(h.goOn)
		if err := <-closed; err != nil || !f.released[0].Equal(at(13)) {
			t.Errorf("Close() = %v, and given back from %v, want tick 13", err, f.released)
		}
	})
}

// A start waits for a reservation that is under way, and for no other.
func TestStartWaitsForTheGrant(t *testing.T) {
	config, _ := leased()
	unavailable := errors.New("database unavailable")
	for _, failed := range []error{nil, unavailable} {
		f := &fakeLeaser{number: 7, from: at(50), until: at(50)}
		f.wanted = func(until time.Time) {
			f.wanted = nil
			go f.granted(7, at(50), until.Add(time.Minute), failed)
		}
		if failed != nil {
			f.wanted = func(time.Time) { f.wanted = nil; go f.granted(7, at(50), at(50), failed) }
		}
		gen, err := uid.NewCached(context.Background(), f, config)
		if failed != nil {
			if gen != nil || !errors.Is(err, unavailable) || !errors.Is(err, uid.ErrReservation) || len(f.released) != 1 {
				t.Errorf("NewCached = %v after %d releases, want ErrReservation because of %v, after one", err, len(f.released), unavailable)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := tick(t, gen); got != 50 {
			t.Errorf("tick %d, want 50", got)
		}
		gen.Close()
	}
	ended, cancel := context.WithCancel(context.Background())
	f := &fakeLeaser{number: 7, from: at(50), until: at(50), wanted: func(time.Time) { cancel() }}
	if gen, err := uid.NewCached(ended, f, config); gen != nil || !errors.Is(err, context.Canceled) || len(f.released) != 1 {
		t.Errorf("NewCached = %v after %d releases, want Canceled after one", err, len(f.released))
	}
}

// A generator that cannot start gives back what it leased.
func TestFailedStartGivesBack(t *testing.T) {
	config, _ := leased()
	config.MaxBorrow = 3 * time.Second
	f := &fakeLeaser{number: 7, from: at(9), until: at(100)}
	if gen, err := uid.NewCached(context.Background(), f, config); gen != nil || !errors.Is(err, uid.ErrBorrowLimit) {
		t.Errorf("NewCached = %v, want ErrBorrowLimit", err)
	}
	if len(f.released) != 1 {
		t.Errorf("released %d times, want once", len(f.released))
	}
	f = &fakeLeaser{number: 256, until: at(100)}
	if gen, err := uid.NewDefault(context.Background(), f, uid.DefaultConfig{Layout: small, Now: config.Now}); gen != nil || !errors.Is(err, uid.ErrWorkerRange) {
		t.Errorf("NewDefault = %v, want ErrWorkerRange", err)
	}
	if len(f.released) != 1 {
		t.Errorf("released %d times, want once", len(f.released))
	}
	f = &fakeLeaser{err: errors.New("no number")}
	if gen, err := uid.NewCached(context.Background(), f, uid.CachedConfig{}); gen != nil || !errors.Is(err, f.err) {
		t.Errorf("NewCached = %v, want %v", err, f.err)
	}
}

// A grant that begins after the layout's end is the end.
func TestGrantBeyondTheLayout(t *testing.T) {
	config, _ := leased()
	config.MaxBorrow = -1
	f := &fakeLeaser{number: 7, from: small.End().Add(time.Hour)}
	if gen, err := uid.NewCached(context.Background(), f, config); gen != nil || !errors.Is(err, uid.ErrTimeExhausted) {
		t.Errorf("NewCached = %v, want ErrTimeExhausted", err)
	}
}
