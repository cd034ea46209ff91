package uid_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

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
