package uid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Close tells where the next holder may start: at the tick of the first id that
// was not issued, or the one after it if others of that tick were.
func TestCloseGivesBackTheRest(t *testing.T) {
	for taken, want := range map[int]int64{0: 5, 1: 6, 2: 6, 3: 7, 15: 13, 16: 13} {
		config, _ := leased()
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := under(t, "cached", f, config)
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
		// After 15 ids the ring was filled again, so tick 12 is not the last.
		if len(f.released) != 1 || !f.released[0].Equal(at(want)) {
			t.Errorf("after %d ids: given back from %v, want once from %v, tick %d", taken, f.released, at(want), want)
		}
	}
	config, c := leased()
	f := &fakeLeaser{number: 7, until: at(100), releaseErr: errors.New("database unavailable")}
	gen := under(t, "default", f, config)
	mustNext(t, gen)
	c.step(time.Second)
	mustNext(t, gen)
	if err := gen.Close(); err != f.releaseErr || !f.released[0].Equal(at(7)) {
		t.Errorf("Close() = %v, and given back from %v, want %v and tick 7", err, f.released, f.releaseErr)
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
		gen := under(t, "cached", f, config)
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

// A start waits for a reservation that is under way.
func TestStartWaitsForTheGrant(t *testing.T) {
	config, _ := leased()
	f := &fakeLeaser{number: 7, from: at(50), until: at(50)}
	f.wanted = func(until time.Time) {
		f.wanted = nil
		go f.granted(7, at(50), until.Add(time.Minute), nil)
	}
	if got := tick(t, under(t, "cached", f, config)); got != 50 {
		t.Errorf("tick %d, want 50", got)
	}
}

// A generator that cannot start gives back what it leased.
func TestFailedStartGivesBack(t *testing.T) {
	unavailable := errors.New("database unavailable")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := &fakeLeaser{number: 7, from: at(50), until: at(50)}
	refused.wanted = func(time.Time) {
		refused.wanted = nil
		go refused.granted(7, at(50), at(50), unavailable)
	}
	for name, test := range map[string]struct {
		ctx    context.Context
		f      *fakeLeaser
		borrow time.Duration
		wants  []error
	}{
		"no reservation":    {t.Context(), refused, 0, []error{uid.ErrReservation, unavailable}},
		"end of a context":  {ctx, &fakeLeaser{number: 7, from: at(50), until: at(50), wanted: func(time.Time) { cancel() }}, 0, []error{context.Canceled}},
		"beyond MaxBorrow":  {t.Context(), &fakeLeaser{number: 7, from: at(9), until: at(100)}, 3 * time.Second, []error{uid.ErrBorrowLimit}},
		"beyond the layout": {t.Context(), &fakeLeaser{number: 7, from: small.End().Add(time.Hour)}, -1, []error{uid.ErrTimeExhausted}},
		"no such number":    {t.Context(), &fakeLeaser{number: 256, until: at(100)}, 0, []error{uid.ErrConfig}},
	} {
		config, _ := leased()
		config.MaxBorrow = test.borrow
		gen, err := uid.NewCached(test.ctx, test.f, config)
		for _, want := range test.wants {
			if gen != nil || !errors.Is(err, want) || len(test.f.released) != 1 {
				t.Errorf("%s: NewCached = %v after %d releases, want %v after one", name, err, len(test.f.released), want)
			}
		}
	}
	f := &fakeLeaser{err: unavailable}
	if gen, err := uid.NewCached(t.Context(), f, uid.CachedConfig{}); gen != nil || !errors.Is(err, unavailable) || len(f.released) != 0 {
		t.Errorf("NewCached = %v after %d releases, want %v after none", err, len(f.released), unavailable)
	}
	ctx, cancel = context.WithCancel(t.Context())
	ending := lease.NewPermanent(assigner(func(ctx context.Context, _ int64) (int64, error) { cancel(); return 0, ctx.Err() }))
	_, err := uid.NewBackfill(ctx, ending, uid.BackfillConfig{})
	need.Error(t, err, context.Canceled)
}

// A call that finds no more time granted asks for more.
func TestAsksForMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, c := leased()
		f := &fakeLeaser{number: 7, until: at(6)}
		gen := under(t, "default", f, config)
		mustNext(t, gen)
		f.wanted = func(until time.Time) {
			f.wanted = nil
			go f.granted(7, time.Time{}, until.Add(time.Minute), nil)
		}
		time.AfterFunc(time.Minute, func() { gen.Close() })
		c.step(time.Second)
		if got := tick(t, gen); got != 6 {
			t.Errorf("tick %d, want 6", got)
		}
	})
}

// In the last granted tick, full Slots fail at once, whether or not more time can be granted:
// they do not wait for it. Only after that tick they fail for want of time.
func TestSlotsInTheLastGrantedTick(t *testing.T) {
	for _, unavailable := range []error{nil, errors.New("database unavailable")} {
		c := clockAt(start)
		f := &fakeLeaser{number: 7, until: at(6)}
		gen := newSlots(t, f, uid.SlotsConfig{Layout: small, Now: c.now, Slots: 1, Logger: quiet})
		f.granted(7, time.Time{}, at(6), unavailable)
		need.Must(t, gen.Stats().LastError)
		var err error
		for err == nil {
			_, err = gen.Next()
		}
		need.Error(t, err, uid.ErrNotReady)
	}
}
