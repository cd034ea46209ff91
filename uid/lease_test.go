package uid_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// The first tick is the first that lies wholly behind what the number's earlier
// holder had reserved, and the last one wholly before what this one has.
func TestCachedStampsWhatIsGranted(t *testing.T) {
	config, _ := leased()
	f := &fakeLeaser{number: 7, from: at(20).Add(time.Millisecond), until: at(24).Add(-time.Millisecond)}
	gen := cachedUnder(t, f, config)
	if f.limit != 255 {
		t.Errorf("limit %d, want 255", f.limit)
	}
	for _, want := range []int64{21, 21, 22, 22} {
		parts, err := gen.Parse(mustNext(t, gen))
		if err != nil || parts.Tick != want || parts.Worker != 7 {
			t.Errorf("%+v, %v; want tick %d of worker 7", parts, err, want)
		}
	}
	unavailable := errors.New("database unavailable")
	f.granted(7, f.from, f.until, unavailable)
	id, err := gen.Next()
	var reservation *uid.ReservationError
	if id != 0 || !errors.Is(err, uid.ErrReservation) || !errors.Is(err, unavailable) || !errors.As(err, &reservation) {
		t.Fatalf("Next() = %d, %v; want ErrReservation because of %v", id, err, unavailable)
	}
	if reservation.Worker != 7 || !reservation.Until.Equal(f.until) || !reservation.From.Equal(at(21)) {
		t.Errorf("%+v", reservation)
	}
	if used, most := f.told(); !used.Equal(at(24)) || !most.Equal(at(5+86400+1)) {
		t.Errorf("Use was told %v and %v, want the end of tick 23 and of the last that may be borrowed", used, most)
	}
	stats := gen.Stats()
	if stats.Clock.LeaseError != unavailable || !stats.Clock.ReservedUntil.Equal(f.until) || stats.Clock.Worker != 7 || stats.Clock.WorkerChanges != 0 {
		t.Errorf("%+v", stats)
	}
	f.granted(7, f.from, at(30), nil)
	if got := tick(t, gen); got != 23 {
		t.Errorf("tick %d, want 23: refused, it was not taken", got)
	}
}

// A wait at the end of what is reserved ends when more is granted.
func TestCachedWaitsForTheGrant(t *testing.T) {
	config, _ := leased()
	f := &fakeLeaser{number: 7, until: at(6)}
	gen := cachedUnder(t, f, config)
	mustNext(t, gen)
	mustNext(t, gen)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if id, err := gen.Wait(ended); id != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() = %d, %v", id, err)
	}
	type result struct {
		id  uid.ID
		err error
	}
	waited := make(chan result)
	go func() {
		id, err := gen.Wait(context.Background())
		waited <- result{id, err}
	}()
	f.granted(7, time.Time{}, at(7), nil)
	if r := <-waited; r.id == 0 || r.err != nil {
		t.Errorf("Wait() = %d, %v", r.id, r.err)
	}
}

// What was made under a lost number and not issued yet is never issued, and ids
// go on upwards under another.
func TestLostNumber(t *testing.T) {
	config, _ := leased()
	f := &fakeLeaser{number: 7, until: at(100)}
	gen := cachedUnder(t, f, config)
	last := mustNext(t, gen)
	lost := errors.New("lost")
	f.granted(-1, time.Time{}, time.Time{}, lost)
	if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lost) {
		t.Errorf("Next() = %d, %v; want ErrReservation because of the loss", id, err)
	}
	if stats := gen.Stats(); stats.Clock.Worker != 7 || stats.Clock.LeaseError != lost || stats.Remaining != 0 {
		t.Errorf("%+v", stats)
	}
	f.granted(3, at(9), at(100), nil)
	for range 20 {
		id := mustNext(t, gen)
		parts, _ := gen.Parse(id)
		if id <= last || parts.Worker != 3 {
			t.Errorf("id %d of worker %d after %d", id, parts.Worker, last)
		}
		last = id
	}
	if stats := gen.Stats(); stats.Clock.Worker != 3 || stats.Clock.WorkerChanges != 1 || stats.Clock.LeaseError != nil {
		t.Errorf("%+v", stats)
	}
}

// A number may change within a tick. Its ids lie above those of the old one even
// if it is smaller.
func TestDefaultChangesNumber(t *testing.T) {
	config, c := leased()
	f := &fakeLeaser{number: 7, until: at(100)}
	gen := defaultUnder(t, f, config)
	last := mustNext(t, gen)
	f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
	if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) {
		t.Errorf("Next() = %d, %v; want ErrReservation", id, err)
	}
	f.granted(3, time.Time{}, at(100), nil)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if id, err := gen.Wait(ended); id != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() = %d, %v; want none in the tick of the old number", id, err)
	}
	c.step(time.Second)
	if id := mustNext(t, gen); id <= last {
		t.Errorf("id %d after %d", id, last)
	}
	if stats := gen.Stats(); stats.Issued != 2 || stats.Clock.WorkerChanges != 1 || stats.Clock.Worker != 3 {
		t.Errorf("%+v", stats)
	}
}

// If the number changes, even several times, in a tick whose ids are all issued, Next
// waits for the next tick, of which each change costs one id.
func TestDefaultChangesNumberInAFullTick(t *testing.T) {
	for changes := int64(1); changes <= 3; changes++ {
		synctest.Test(t, func(t *testing.T) {
			layout := bubble
			layout.SequenceBits = 2
			f := &fakeLeaser{number: 7, until: layout.End()}
			gen := defaultUnder(t, f, uid.CachedConfig{Layout: layout})
			defer gen.Close()
			last, parts := uid.ID(0), bits.Parts{}
			for parts.Sequence < 3 {
				last = mustNext(t, gen)
				parts, _ = gen.Parse(last)
			}
			time.Sleep(2 * time.Millisecond)
			for n := range changes {
				f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
				f.granted(n+1, time.Time{}, layout.End(), nil)
			}
			id := mustNext(t, gen)
			next, _ := gen.Parse(id)
			if next.Tick != parts.Tick+1 || next.Worker != changes || next.Sequence > changes || id <= last {
				t.Errorf("%d changes: %+v follows %+v, want an id of the next tick", changes, next, parts)
			}
			if got := time.Since(bubble.Epoch); got != time.Second*time.Duration(next.Tick) {
				t.Errorf("%d changes: Next() returned %v after the epoch, in tick %d", changes, got, next.Tick)
			}
		})
	}
}

// The layout's first id belongs to the old number as any other does: the rest of its
// tick is not stamped under another.
func TestDefaultChangesNumberAfterTheFirstID(t *testing.T) {
	layout := bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 2, Epoch: start, Unit: time.Second}
	for range 50 { // the first sequence is random
		clock := clockAt(start)
		f := &fakeLeaser{number: 7, until: layout.End()}
		gen := defaultUnder(t, f, uid.CachedConfig{Layout: layout, Now: clock.now})
		last := mustNext(t, gen)
		f.granted(3, time.Time{}, layout.End(), nil)
		if id, err := gen.Wait(ended()); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait() = %d, %v after id %d of the same tick, want to wait for the next", id, err, last)
		}
	}
}

// Default stamps the present, so it waits until that is its own.
func TestDefaultUnderAGrant(t *testing.T) {
	config, c := leased()
	f := &fakeLeaser{number: 7, from: at(7), until: at(9)}
	gen := defaultUnder(t, f, config)
	if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) {
		t.Errorf("Next() = %d, %v; want ErrReservation", id, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if id, err := gen.Wait(ended); id != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait() = %d, %v; want it to have waited", id, err)
	}
	c.step(2 * time.Second)
	if got := tick(t, gen); got != 7 {
		t.Errorf("tick %d, want 7", got)
	}
	if used, most := f.told(); !used.Equal(at(8)) || !most.Equal(at(8)) {
		t.Errorf("Use was told %v and %v, want the end of tick 7", used, most)
	}
	unavailable := errors.New("database unavailable")
	f.granted(7, f.from, f.until, unavailable)
	c.step(2 * time.Second)
	if id, err := gen.Next(); id != 0 || !errors.Is(err, unavailable) {
		t.Errorf("Next() = %d, %v; want %v", id, err, unavailable)
	}
	f.granted(7, f.from, at(10), nil)
	if got := tick(t, gen); got != 9 {
		t.Errorf("tick %d, want 9", got)
	}
}

// A restart within a second finds the second reserved, and waits for the next.
func TestDefaultWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, from: bubble.Epoch.Add(time.Second), until: bubble.Epoch.Add(time.Minute)}
		gen, err := uid.NewDefault(context.Background(), f, uid.DefaultConfig{Layout: bubble})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		began := time.Now()
		mustNext(t, gen)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v, want 1s", took)
		}
	})
}

// With nothing left of a tick there is nothing to take for issued when the number
// changes within it, and still the ids go on upwards.
func TestDefaultChangesNumberAtTheEndOfATick(t *testing.T) {
	config, c := leased()
	h := holdUp(c)
	config.Now = h.now
	config.Layout.SequenceBits = 0
	f := &fakeLeaser{number: 7, until: at(100)}
	gen := defaultUnder(t, f, config)
	mustNext(t, gen)
	c.step(time.Second)
	id, err := h.next(gen, func() {
		f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
		f.granted(3, time.Time{}, at(100), nil)
		c.step(time.Second) // for the next reading
	})
	if parts, _ := gen.Parse(id); err == nil && parts.Worker != 3 {
		t.Errorf("Next() = id of worker 7, which is lost")
	}
	c.step(time.Second)
	if next := mustNext(t, gen); next <= id {
		t.Errorf("id %d after %d", next, id)
	}
	if stats := gen.Stats(); stats.Issued > 3 {
		t.Errorf("%+v", stats)
	}
}

// A layout may use all of int64: its last tick has no one after it.
func TestWidestLayout(t *testing.T) {
	layout := bits.Layout{TimeBits: 63, Epoch: small.Epoch, Unit: time.Millisecond}
	config := uid.CachedConfig{Layout: layout}
	for _, gen := range []generator{
		cachedUnder(t, &fakeLeaser{number: 0, until: time.Now().Add(time.Hour)}, config),
		defaultUnder(t, &fakeLeaser{number: 0, until: time.Now().Add(time.Hour)}, config),
	} {
		mustNext(t, gen)
	}
	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(0), byClock(config))
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	mustNext(t, gen)
}

// A reservation that is under way is waited for, not refused.
func TestDefaultWaitsForTheGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, until: bubble.Epoch}
		gen, err := uid.NewDefault(context.Background(), f, uid.DefaultConfig{Layout: bubble})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		time.AfterFunc(300*time.Millisecond, func() { f.granted(7, time.Time{}, bubble.Epoch.Add(time.Minute), nil) })
		began := time.Now()
		mustNext(t, gen)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("waited %v, want 300ms", took)
		}
	})
}
