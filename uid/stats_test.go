package uid_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The age of what is dealt next grows with the clock, and is negative while ids
// are stamped ahead of it.
func TestStatsOldestAge(t *testing.T) {
	c := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, Now: c.now, BoostPower: 1})
	if age := gen.Stats().Ring.OldestAge; age != 0 {
		t.Errorf("a new generator's next id is %v old, want 0", age)
	}
	if text := fmt.Sprint(gen.Stats()); strings.Contains(text, "0x") || !strings.Contains(text, "Worker:") || !strings.Contains(text, "OldestAge:0s") {
		t.Errorf("Stats prints as %s", text)
	}
	for range 3 {
		mustNext(t, gen)
	}
	if age := gen.Stats().Ring.OldestAge; age != -time.Second {
		t.Errorf("the next id's age is %v, want -1s: it is of the second to come", age)
	}
	c.step(time.Hour)
	if age := gen.Stats().Ring.OldestAge; age != time.Hour-time.Second {
		t.Errorf("the next id's age is %v after an hour, want 59m59s", age)
	}
	gen.Close()
	if age := gen.Stats().Ring.OldestAge; age != 0 {
		t.Errorf("with no id left the age is %v, want 0", age)
	}
}

// Runs that were dropped or refused are counted; a refill that put nothing is not.
func TestStatsOfTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, reason := int64(0), uid.ErrStale
		gen := newCached(t, uid.CachedConfig{
			Layout: bubble, Schedule: "@every 1s",
			RejectedTake: func(uid.Refusal) error { t.Error("the policy was asked"); return nil }, // not even after Close
			RejectedPut: func(_ uid.Run, err error) {
				if told++; !errors.Is(err, reason) {
					t.Errorf("RejectedPut got %v, want %v", err, reason)
				}
			},
		})
		synctest.Wait()
		if s := gen.Stats(); s.Ring.Refills != 1 || s.Ring.Helps != 0 || s.Ring.RejectedPuts != 0 || s.Dropped != 0 {
			t.Errorf("Stats() = %+v of a new generator, want 1 refill", s)
		}
		time.Sleep(10 * time.Second) // which is due, but the ring is full
		synctest.Wait()
		if got := gen.Stats().Ring.Refills; got != 1 {
			t.Errorf("%d refills, want 1: the ring was full", got)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		s := gen.Stats()
		if s.Ring.RejectedPuts != told || told == 0 || s.Dropped == 0 || s.Ring.Refills < 2 {
			t.Errorf("RejectedPut was told %d times, Stats() = %+v", told, s)
		}
		if s.Ring.MaxAge != uid.DefaultMaxAge || s.Ring.MaxBorrow != uid.DefaultMaxBorrow || s.Ring.Capacity != 16 || s.Remaining != 16 {
			t.Errorf("Stats() = %+v", s)
		}
		reason = uid.ErrClosed
		gen.Close()
		if after := gen.Stats(); after.Ring.RejectedPuts != told || after.Ring.RejectedPuts == s.Ring.RejectedPuts || after.LastError != nil || !after.Closed {
			t.Errorf("Stats() = %+v after Close, want no error, and %d rejected", after, told)
		}
		if _, err := gen.Next(); err != uid.ErrClosed || gen.Stats().LastError != nil {
			t.Errorf("Next() = %v after Close, and LastError is %v", err, gen.Stats().LastError)
		}
	})
}

// A ring that waits for the clock, or for a reservation that is under way, does not fail.
func TestFailing(t *testing.T) {
	gone := errors.New("the database is gone")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {gone, true}, {uid.ErrTimeExhausted, true},
		{fmt.Errorf("so: %w", &uid.BorrowLimitError{}), false},
		{&uid.ReservationError{}, false}, {&uid.ReservationError{Err: gone}, true},
	} {
		if got := (uid.Stats{LastError: test.err}).Failing(); got != test.want {
			t.Errorf("with %v, Failing() = %t", test.err, got)
		}
	}
}

// Default, Slots and Backfill say that they are failing before a call fails.
func TestFailingWithoutRing(t *testing.T) {
	lost := errors.New("lost")
	config, c := leased()
	for _, kind := range []string{"default", "slots", "backfill"} {
		t.Run(kind, func(t *testing.T) {
			c.nanos.Store(start.UnixNano())
			f := &fakeLeaser{number: 7, fresh: true, until: at(100)}
			var gen interface{ Stats() uid.Stats }
			if kind == "backfill" {
				gen = newBackfill(t, f, uid.BackfillConfig{Layout: small, Now: c.now})
			} else {
				gen = under(t, kind, f, config)
			}
			want := func(failing bool, errs ...error) {
				t.Helper()
				s := gen.Stats()
				if s.Failing() != failing || (s.LastError != nil) != (len(errs) > 0) {
					t.Errorf("LastError is %v, Failing() = %t; want %v, %t", s.LastError, s.Failing(), errs, failing)
				}
				for _, err := range errs {
					need.Error(t, s.LastError, err)
				}
			}
			want(false)
			f.granted(7, time.Time{}, at(100), lost) // the reservation goes on meanwhile
			want(false)
			f.granted(-1, time.Time{}, time.Time{}, lost)
			want(true, uid.ErrReservation, lost)
			f.granted(3, time.Time{}, at(100), nil)
			want(false)
			if kind == "backfill" {
				return
			}
			c.step(at(101).Sub(c.now()))
			want(false) // no call has asked for more
			f.granted(3, time.Time{}, at(100), lost)
			want(true, uid.ErrReservation, lost)
			c.step(small.End().Sub(c.now()))
			want(true, uid.ErrTimeExhausted)
			if kind == "default" {
				c.nanos.Store(start.UnixNano())
				f.granted(3, at(20), at(100), nil) // an earlier holder has the time before
				want(false, uid.ErrReservation)
				f.granted(3, at(200), at(100), nil) // and all that the new one has reserved
				want(false, uid.ErrReservation)
				f.granted(3, at(20), at(100), nil)
				c.step(at(30).Sub(c.now()))
				mustNext(t, gen.(uid.Generator))
				c.step(-time.Second)
				want(true, uid.ErrClockBackward)
			}
			need.Must(t, gen.(uid.Generator).Close())
			want(false)
		})
	}
}

func TestReservationErrorSays(t *testing.T) {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	unavailable := errors.New("the database is unavailable")
	for _, tt := range []struct {
		err  uid.ReservationError
		want string
	}{
		{uid.ReservationError{Worker: 3}, "no worker number is held; the last was 3"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon.Add(time.Minute)}, "worker 3 has time only from 2026-11-20T12:00:00Z until 2026-11-20T12:01:00Z"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon}, "worker 3 has no reserved time before 2026-11-20T12:00:00Z"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon, Err: unavailable}, "worker 3 has no reserved time before 2026-11-20T12:00:00Z: the database is unavailable"},
	} {
		if got, want := tt.err.Error(), uid.ErrReservation.Error()+": "+tt.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
