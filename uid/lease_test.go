package uid_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// The first tick is the first that lies wholly behind what the number's earlier
// holder had reserved, and the last one wholly before what this one has.
func TestCachedStampsWhatIsGranted(t *testing.T) {
	config, _ := leased()
	f := &fakeLeaser{number: 7, from: at(20).Add(time.Millisecond), until: at(24).Add(-time.Millisecond)}
	gen := under(t, "cached", f, config)
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

// What was made under a lost number and not issued yet is never issued, and ids
// go on upwards under another, even a smaller one.
func TestLostNumber(t *testing.T) {
	for _, kind := range all {
		config, c := leased()
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := under(t, kind, f, config)
		last := mustNext(t, gen)
		lost := errors.New("lost")
		f.granted(-1, time.Time{}, time.Time{}, lost)
		if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lost) {
			t.Errorf("%s: Next() = %d, %v; want ErrReservation because of the loss", kind, id, err)
		}
		if stats := gen.Stats(); stats.Clock.Worker != 7 || stats.Clock.LeaseError != lost || stats.Remaining != 0 {
			t.Errorf("%s: %+v", kind, stats)
		}
		f.granted(3, at(9), at(100), nil)
		for range 20 {
			c.step(4 * time.Second)
			id := mustNext(t, gen)
			if worker := parsed(t, gen, id).Worker; id <= last || worker != 3 {
				t.Errorf("%s: id %d of worker %d after %d", kind, id, worker, last)
			}
			last = id
		}
		stats := gen.Stats()
		if stats.Clock.Worker != 3 || stats.Clock.WorkerChanges != 1 || stats.Clock.LeaseError != nil || stats.Issued != 21 {
			t.Errorf("%s: %+v", kind, stats)
		}
	}
}

// The layout's first id belongs to the old number as any other does: the rest of its
// tick is not stamped under another.
func TestDefaultChangesNumberAfterTheFirstID(t *testing.T) {
	layout := bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 2, Epoch: start, Unit: time.Second}
	for range 50 { // the first sequence is random
		clock := clockAt(start)
		f := &fakeLeaser{number: 7, until: layout.End()}
		gen := under(t, "default", f, uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
		last := mustNext(t, gen)
		f.granted(3, time.Time{}, layout.End(), nil)
		if id, err := gen.Wait(ended()); !errors.Is(err, context.Canceled) {
			t.Fatalf("Wait() = %d, %v after id %d of the same tick, want to wait for the next", id, err, last)
		}
	}
}

// A start waits beside time that a crashed holder reserved. If its context ends before, the error
// says when ids begin, and the number is given back.
func TestStartAwaitsReservedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, from: bubble.Epoch.Add(9 * time.Minute), until: bubble.Epoch.Add(9 * time.Minute)}
		for i, kind := range []string{"default", "slots"} {
			short, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := kinds[kind](short, f, uid.CachedConfig{Layout: bubble})
			cancel()
			if want := "can make no ids before " + f.from.UTC().Format(time.RFC3339); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) || len(f.released) != i+1 {
				t.Errorf("%v, %d numbers given back; want %q and %d", err, len(f.released), want, i+1)
			}
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		nothing := &fakeLeaser{number: 7, until: bubble.Epoch} // is reserved
		if _, err := uid.NewCached(short, nothing, uid.CachedConfig{Layout: bubble}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, uid.ErrReservation) {
			t.Errorf("NewCached: %v, want the end of the context and ErrReservation", err)
		}
	})
}

// The wait for an earlier holder's time ends when the clock steps.
func TestDefaultAwaitsBesideAClockStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var step atomic.Int64
		time.AfterFunc(time.Second, func() { step.Store(int64(time.Hour)) })
		now := func() time.Time { return time.Now().Add(time.Duration(step.Load())) }
		began := time.Now()
		f := &fakeLeaser{number: 7, from: bubble.Epoch.Add(30 * time.Minute), until: bubble.Epoch.Add(2 * time.Hour)}
		gen, err := uid.NewDefault(t.Context(), f, uid.DefaultConfig{Layout: bubble, Now: now})
		if took := time.Since(began); err != nil || took > 3*time.Second {
			t.Fatalf("%v after %v; want a start within 3 s", err, took)
		}
		mustNext(t, gen)
	})
}

// A restart within a second finds the second reserved, and waits for the next.
func TestDefaultWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, from: bubble.Epoch.Add(time.Second), until: bubble.Epoch.Add(time.Minute)}
		gen := under(t, "default", f, uid.CachedConfig{Layout: bubble})
		began := time.Now()
		mustNext(t, gen)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v, want 1s", took)
		}
	})
}

// A layout may use all of int64: its last tick has no one after it.
func TestWidestLayout(t *testing.T) {
	config := uid.CachedConfig{Layout: bits.Layout{TimeBits: 63, Epoch: small.Epoch, Unit: time.Millisecond}, Logger: quiet}
	for _, kind := range all {
		for _, leaser := range []uid.WorkerSource{lease.NewStatic(0), &fakeLeaser{until: time.Now().Add(time.Hour)}} {
			mustNext(t, under(t, kind, leaser, config))
		}
	}
}

// A call that waits for more reserved time goes on at the moment of the grant. Wait
// and WaitN wait even while the store is unavailable; Next then fails.
func TestWaitsUntilMoreIsGranted(t *testing.T) {
	unavailable := errors.New("database unavailable")
	for _, kind := range all {
		for _, test := range []struct {
			call string
			err  error
		}{{"Next", nil}, {"Wait", nil}, {"Wait", unavailable}, {"WaitN", unavailable}} {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeLeaser{number: 7, until: bubble.Epoch.Add(time.Second)}
				gen := under(t, kind, f, uid.CachedConfig{Layout: bubble})
				var err error
				for err == nil { // deal what is reserved
					_, err = gen.Wait(ended())
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: Wait() = %v, want that of the context", kind, err)
				}
				time.Sleep(time.Second)
				f.granted(7, time.Time{}, f.until, test.err)
				if test.err != nil {
					if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) || !errors.Is(err, unavailable) {
						t.Errorf("%s: Next() = %d, %v, want ErrReservation because of %v", kind, id, err, unavailable)
					}
				}
				begun := time.Now()
				time.AfterFunc(300*time.Millisecond, func() { f.granted(7, time.Time{}, bubble.Epoch.Add(time.Minute), nil) })
				if n, err := calls[test.call](t.Context(), gen, make([]uid.ID, 1)); n != 1 || err != nil || time.Since(begun) != 300*time.Millisecond {
					t.Errorf("%s, %v: %s() = %v after %v, want an id after 300ms", kind, test.err, test.call, err, time.Since(begun))
				}
			})
		}
	}
}

// The first tick under another number is dealt whole: only ids that were dropped
// for their age are skipped in the next.
func TestAnotherNumberBeginsATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, until: bubble.Epoch.Add(time.Minute)}
		gen := under(t, "cached", f, uid.CachedConfig{Layout: bubble})
		mustNext(t, gen)
		f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
		synctest.Wait()
		f.granted(3, time.Time{}, bubble.Epoch.Add(time.Minute), nil)
		synctest.Wait()
		if parts, err := gen.Parse(mustNext(t, gen)); err != nil || parts.Worker != 3 || parts.Sequence != 0 {
			t.Errorf("the first id is %+v (%v), want sequence 0 of worker 3", parts, err)
		}
	})
}

// Near the layout's end, Use reports no time beyond that end, whatever MaxBorrow allows.
func TestBorrowsNothingBeyondTheEnd(t *testing.T) {
	for _, borrow := range []time.Duration{time.Hour, math.MaxInt64} {
		f := &fakeLeaser{number: 7}
		under(t, "cached", f, uid.CachedConfig{Layout: small, MaxBorrow: borrow, Logger: quiet, Now: clockAt(small.End().Add(-time.Minute)).now})
		if _, most := f.told(); !most.Equal(small.End()) {
			t.Errorf("MaxBorrow %v: Use was told %v, want the layout's end, %v", borrow, most, small.End())
		}
	}
}

// held is a clock that holds up one reading: a call is then under way, with all
// but the time in its hands.
type held struct {
	*clock
	armed   atomic.Bool
	reading chan struct{}
	goOn    chan struct{}
}

func holdUp(c *clock) *held {
	return &held{clock: c, reading: make(chan struct{}), goOn: make(chan struct{})}
}

func (h *held) now() time.Time {
	now := h.clock.now()
	if h.armed.CompareAndSwap(true, false) {
		h.reading <- struct{}{}
		<-h.goOn
	}
	return now
}

// next has one call of Next held up while meanwhile runs.
func (h *held) next(gen uid.Generator, meanwhile func()) (id uid.ID, err error) {
	h.armed.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		id, err = gen.Next()
	}()
	<-h.reading
	meanwhile()
	close(h.goOn)
	<-done
	return id, err
}

// What Close gives back is not issued, not even by a call that began before.
func TestDefaultClosedUnderACall(t *testing.T) {
	config, c := leased()
	h := holdUp(c)
	config.Now = h.now
	f := &fakeLeaser{number: 7, until: at(100)}
	gen := under(t, "default", f, config)
	mustNext(t, gen)
	c.step(time.Second)
	id, err := h.next(gen, func() { gen.Close() })
	if err != uid.ErrClosed {
		t.Errorf("Next() = %d, %v, after the time from %v on was given back; want ErrClosed", id, err, f.released[0])
	}
}

// A call that began under one number does not stamp under it after another has been
// granted, even if all ids of the tick were issued.
func TestDefaultChangesNumberUnderACall(t *testing.T) {
	for sequenceBits := range uint8(2) {
		config, c := leased()
		h := holdUp(c)
		config.Now = h.now
		config.Layout.SequenceBits = sequenceBits
		f := &fakeLeaser{number: 7, until: at(100)}
		gen := under(t, "default", f, config)
		last := mustNext(t, gen)
		c.step(time.Second)
		id, err := h.next(gen, func() {
			f.losing(3, at(100))
			c.step(time.Second) // for the next reading
		})
		if parts, _ := gen.Parse(id); err != nil || parts.Worker != 3 || id <= last {
			t.Errorf("Next() = id %d of worker %d, %v after %d; want one of worker 3", id, parts.Worker, err, last)
		}
		c.step(time.Second)
		if next := mustNext(t, gen); next <= id || gen.Stats().Issued != 3 {
			t.Errorf("id %d after %d, and %d issued", next, id, gen.Stats().Issued)
		}
	}
}
