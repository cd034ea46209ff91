package uid_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// underBubble opens each kind of generator under a lease in virtual time.
var underBubble = map[string]func(*fakeLeaser) (generator, error){
	"cached": func(f *fakeLeaser) (generator, error) {
		return uid.NewCached(context.Background(), f, uid.CachedConfig{Layout: bubble})
	},
	"default": func(f *fakeLeaser) (generator, error) {
		return uid.NewDefault(context.Background(), f, uid.DefaultConfig{Layout: bubble})
	},
	"slots": func(f *fakeLeaser) (generator, error) {
		return uid.NewSlots(context.Background(), f, uid.SlotsConfig{Layout: bubble})
	},
}

// A call that waits for more reserved time goes on at the moment of the grant. Wait
// and WaitN wait even while the store is unavailable; Next then fails.
func TestWaitsUntilMoreIsGranted(t *testing.T) {
	for name, open := range underBubble {
		for _, unavailable := range []error{nil, errors.New("database unavailable")} {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeLeaser{number: 7, until: bubble.Epoch.Add(time.Second)}
				gen, err := open(f)
				if err != nil {
					t.Fatal(err)
				}
				for err == nil { // deal what is reserved
					_, err = gen.WaitN(ended(), make([]uid.ID, 1))
				}
				time.Sleep(time.Second)
				f.granted(7, time.Time{}, f.until, unavailable)
				if unavailable != nil {
					if id, err := gen.Next(); id != 0 || !errors.Is(err, uid.ErrReservation) || !errors.Is(err, unavailable) {
						t.Errorf("%s: Next() = %d, %v, want ErrReservation because of %v", name, id, err, unavailable)
					}
				}
				begun := time.Now()
				time.AfterFunc(300*time.Millisecond, func() { f.granted(7, time.Time{}, bubble.Epoch.Add(time.Minute), nil) })
				if id, err := gen.Wait(t.Context()); id == 0 || err != nil || time.Since(begun) != 300*time.Millisecond {
					t.Errorf("%s, %v: Wait() = %d, %v after %v, want an id after 300ms", name, unavailable, id, err, time.Since(begun))
				}
				gen.Close()
			})
		}
	}
}

// The first tick under another number is dealt whole: only ids that were dropped
// for their age are skipped in the next.
func TestAnotherNumberBeginsATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLeaser{number: 7, until: bubble.Epoch.Add(time.Minute)}
		gen, err := underBubble["cached"](f)
		if err != nil {
			t.Fatal(err)
		}
		mustNext(t, gen)
		f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
		synctest.Wait()
		f.granted(3, time.Time{}, bubble.Epoch.Add(time.Minute), nil)
		synctest.Wait()
		if parts, err := gen.Parse(mustNext(t, gen)); err != nil || parts.Worker != 3 || parts.Sequence != 0 {
			t.Errorf("the first id is %+v (%v), want sequence 0 of worker 3", parts, err)
		}
		gen.Close()
	})
}

// Near the layout's end, Use reports no time beyond that end, whatever MaxBorrow allows.
func TestBorrowsNothingBeyondTheEnd(t *testing.T) {
	for _, borrow := range []time.Duration{time.Hour, math.MaxInt64} {
		_, logger := recorder()
		f := &fakeLeaser{number: 7}
		cachedUnder(t, f, uid.CachedConfig{Layout: small, MaxBorrow: borrow, Logger: logger, Now: clockAt(small.End().Add(-time.Minute)).now})
		if _, most := f.told(); !most.Equal(small.End()) {
			t.Errorf("MaxBorrow %v: Use was told %v, want the layout's end, %v", borrow, most, small.End())
		}
	}
}

// A call waits as long as the source's error says, with nothing to wake it: the executor
// does not run yet.
func TestWaitsForTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d, err := uid.NewDealer(func(context.Context) (ringbuffer.Run, error) {
			if asked++; asked == 1 {
				return ringbuffer.Run{}, later(70 * time.Millisecond)
			}
			return ringbuffer.Run{First: 5, N: 1}, nil
		}, uid.DealerConfig{Runs: 2, RunLen: 4, PaddingFactor: 50})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if id, err := d.Wait(t.Context()); id != 5 || err != nil || time.Since(begun) != 70*time.Millisecond {
			t.Errorf("Wait() = %d, %v after %v, want 5 after 70ms", id, err, time.Since(begun))
		}
		d.Close()
	})
}
