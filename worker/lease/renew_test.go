package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The tests of this file are in virtual time.

// unanswering is a store that makes a row, loses the answer, and is unavailable for the
// next reading.
type unanswering struct {
	*leasetest.Memory
	unavailable bool
}

var errReset = errors.New("connection reset")

func (s *unanswering) Insert(ctx context.Context, w lease.Write) (bool, error) {
	_, _ = s.Memory.Insert(ctx, w)
	s.unavailable = true
	return false, errReset
}

func (s *unanswering) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	if s.unavailable {
		s.unavailable = false
		return nil, 0, errReset
	}
	return s.Memory.Read(ctx, number, expiry)
}

// A start that fails gives back what it may have taken.
func TestFailedStartGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &unanswering{Memory: new(leasetest.Memory)}
		_, err := holding.Try(context.Background(), t, lease.New(s, quiet), 9, time.Now)
		if !errors.Is(err, errReset) {
			t.Fatalf("%v; want that the connection was reset", err)
		}
		row, _, err := s.Memory.Read(context.Background(), 0, time.Minute)
		if err != nil || row == nil || row.State != lease.StateFree {
			t.Errorf("%+v, %v; want the number free", row, err)
		}
	})
}

// More is reserved at once when half of what was reserved is used, and not before.
// A call that says less after one that said more changes nothing.
func TestUseAsksAtHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hold(t, new(leasetest.Memory), lease.Config{Expiry: 8 * time.Minute}) // the interval is two minutes
		first := h.Last().Until
		h.Use(time.Now().Add(4*time.Minute), time.Time{})
		time.Sleep(time.Second)
		if until := h.Last().Until; until != first {
			t.Errorf("reserved until %v when less than half of it was used; want %v", until, first)
		}
		h.Use(time.Now().Add(6*time.Minute), time.Time{})
		h.Use(time.Now(), time.Time{})
		time.Sleep(time.Second)
		if until := h.Last().Until; !until.After(first.Add(5 * time.Minute)) {
			t.Errorf("reserved until %v when more than half of it was used; want more", until)
		}
	})
}

// The first attempts after a failure come quickly, also after a failure that took
// long.
func TestRetriesQuicklyAfterEachFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, unavailable := newSlow(), errors.New("unavailable")
		hold(t, s)
		var mu sync.Mutex
		var attempts []time.Time
		fail := func(context.Context, bool) error {
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, time.Now())
			return unavailable
		}
		for range 2 {
			attempts = nil
			s.fails(fail)
			time.Sleep(2 * time.Minute)
			s.fails(func(context.Context, bool) error { return nil })
			time.Sleep(time.Minute)
			mu.Lock()
			if len(attempts) < 20 || attempts[1].Sub(attempts[0]) > 200*time.Millisecond {
				t.Errorf("attempts at %v", attempts)
			}
			if last := len(attempts) - 1; attempts[last].Sub(attempts[last-1]) < time.Second {
				t.Errorf("attempts at %v; want them to become rare", attempts)
			}
			mu.Unlock()
		}
	})
}

// Instants beyond all reckoning are the last that there is.
func TestUseBeyondAllInstants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hold(t, new(leasetest.Memory))
		far := time.Unix(1<<55, 0)
		h.Use(far, far)
		time.Sleep(time.Second)
		if until := h.Last().Until; until.UnixMilli() != 1<<60 {
			t.Errorf("reserved until %d, want %d", until.UnixMilli(), int64(1)<<60)
		}
		h.Use(time.Time{}, time.Time{})
		h.Use(time.Unix(-1<<55, 0), time.Unix(-1<<55, 0))
		time.Sleep(time.Minute)
		if until := h.Last().Until; until.UnixMilli() != 1<<60 {
			t.Errorf("reserved until %d", until.UnixMilli())
		}
	})
}

// A store without a clock: the holder's own decides which numbers have rested, and
// how far is reserved, and is not called wrong.
func TestStoreWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clockless{new(leasetest.Memory)}
		ahead := func() time.Time { return time.Now().Add(5 * time.Hour) }
		h, err := holding.Try(context.Background(), t, lease.New(s, quiet), 9, ahead)
		if err != nil {
			t.Fatal(err)
		}
		if until := h.Last().Until; !until.Equal(ahead().Add(lease.DefaultWindow)) {
			t.Errorf("reserved until %v; want %v", until, ahead().Add(lease.DefaultWindow))
		}
		time.Sleep(time.Hour)
		if now := h.Last(); now.Err != nil || !now.Until.After(ahead()) {
			t.Errorf("granted %+v", now)
		}
		if err := h.Release(context.Background(), ahead()); err != nil {
			t.Error(err)
		}
		if again := hold(t, s); again.Last().Number != 1 {
			t.Errorf("granted %+v; want number 1, as 0 has not rested", again.Last())
		}
	})
}

// clockless is a store that has no clock.
type clockless struct{ *leasetest.Memory }

func (c clockless) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	view, err := c.Memory.Look(ctx, within, expiry)
	view.Now = 0
	return view, err
}

func (c clockless) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	row, _, err := c.Memory.Read(ctx, number, expiry)
	return row, 0, err
}
