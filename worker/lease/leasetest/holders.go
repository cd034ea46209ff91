package leasetest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// holder is a number that is held, and all that was granted with it.
type holder struct {
	lease.Lease
	mu     sync.Mutex
	grants []lease.Grant
}

func (h *holder) granted(g lease.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grants = append(h.grants, g)
}

// now returns what was granted last.
func (h *holder) now() lease.Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grants[len(h.grants)-1]
}

func (s Suite) leaser(store lease.Store, opts ...lease.Option) *lease.Leaser {
	return lease.New(store, append([]lease.Option{
		lease.WithExpiry(s.Expiry), lease.WithWindow(time.Hour), lease.WithNode(node), lease.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)...)
}

// try leases a number. At the end of the test its holder ends as a process does
// that is killed.
func (s Suite) try(t *testing.T, store lease.Store, limit int64, opts ...lease.Option) (*holder, error) {
	h := new(holder)
	cut := &cutOff{Store: store}
	held, err := s.leaser(cut, opts...).Lease(context.Background(), limit, time.Now, h.granted)
	if err != nil {
		return nil, err
	}
	h.Lease = &killable{held, cut}
	t.Cleanup(h.kill)
	return h, nil
}

// take is try where it must succeed.
func (s Suite) take(t *testing.T, store lease.Store, limit int64, opts ...lease.Option) *holder {
	t.Helper()
	h, err := s.try(t, store, limit, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// killable is a lease with a holder that can end without a request to the
// store.
type killable struct {
	lease.Lease
	store *cutOff
}

func (h *holder) kill() {
	h.Lease.(*killable).store.cut.Store(true)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Release(ended, time.Time{})
}

// number is a lease.Assigner.
type number int64

func (n number) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

// comesBack: what is given back is given again, from where it ended.
func (s Suite) comesBack(t *testing.T, open Opener) {
	h := s.take(t, open(t), 9)
	first := h.now()
	if !first.Held || first.Number != 0 || first.Until.Before(time.Now()) || first.Err != nil {
		t.Fatalf("granted %+v", first)
	}
	next := time.UnixMilli(time.Now().UnixMilli())
	if err := h.Release(context.Background(), next); err != nil {
		t.Fatal(err)
	}
	if again := s.take(t, open(t), 9).now(); again.Number != 0 || !again.From.Equal(next) {
		t.Errorf("granted %+v; want number 0 from %v", again, next)
	}
}

// crash: whoever takes the number of a dead holder starts where that had reserved.
func (s Suite) crash(t *testing.T, open Opener) {
	store := open(t)
	h := s.take(t, store, 0)
	h.kill()
	s.Kill(t, store)
	successor := open(t)
	var taken *holder
	eventually(t, "the number expires", func() (ok bool) {
		var err error
		if taken, err = s.try(t, successor, 0); err != nil && !errors.Is(err, lease.ErrExhausted) {
			t.Fatal(err)
		}
		return err == nil
	})
	if got, was := taken.now(), h.now(); got.Number != 0 || !got.From.Equal(was.Until) {
		t.Errorf("granted %+v; want number 0 from %v", got, was.Until)
	}
}

// held: a number that is held is nobody else's.
func (s Suite) held(t *testing.T, open Opener) {
	store, alive := open(t), lease.WithExpiry(time.Minute)
	s.take(t, store, 1, alive, lease.WithNumber(number(1)))
	if h, err := s.try(t, open(t), 1, alive, lease.WithNumber(number(1))); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("%v, %v; want ErrHeld", h, err)
	}
	if g := s.take(t, open(t), 1, alive, lease.WithNumber(number(0))).now(); g.Number != 0 {
		t.Errorf("granted %+v; want number 0", g)
	}
	var exhausted *lease.ExhaustedError
	if h, err := s.try(t, open(t), 1, alive); !errors.As(err, &exhausted) || exhausted.Held != 2 || exhausted.Store != store.Name() {
		t.Errorf("%v, %v; want ErrExhausted", h, err)
	}
	if err := s.leaser(open(t), alive).Free(context.Background(), 0, false); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("%v; want ErrHeld", err)
	}
	if err := s.leaser(open(t), alive).Free(context.Background(), 2, true); !errors.Is(err, lease.ErrNoLease) {
		t.Errorf("%v; want ErrNoLease", err)
	}
}

// loss: a holder takes another number when its own is freed, and no other
// holder stamps ticks of either grant.
func (s Suite) loss(t *testing.T, open Opener) {
	h := s.take(t, open(t), 9)
	before := h.now()
	if err := s.leaser(open(t)).Free(context.Background(), 0, true); err != nil {
		t.Fatal(err)
	}
	successor := s.take(t, open(t), 9, lease.WithNumber(number(0))).now()
	if successor.Number != 0 || successor.From.Before(before.Until) {
		t.Errorf("granted %+v, and %+v to the one before", successor, before)
	}
	eventually(t, "the holder finds its number lost, and takes another", func() bool {
		g := h.now()
		return g.Held && g.Number != 0
	})
	lost := false
	h.mu.Lock()
	for _, g := range h.grants {
		lost = lost || !g.Held && errors.Is(g.Err, lease.ErrLost)
	}
	h.mu.Unlock()
	if !lost {
		t.Error("the loss was not told")
	}
}

// starters: all who start at once get numbers of their own.
func (s Suite) starters(t *testing.T, open Opener) {
	const starters = 8
	var (
		mu       sync.Mutex
		numbers  = map[int64]bool{}
		starting sync.WaitGroup
	)
	for range starters {
		store := open(t)
		starting.Go(func() {
			h, err := s.try(t, store, starters-1, lease.WithExpiry(time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			if n := h.now().Number; numbers[n] {
				t.Errorf("number %d is given twice", n)
			} else {
				numbers[n] = true
			}
		})
	}
	starting.Wait()
}

// renews: a holder's time is extended, and the row says so.
func (s Suite) renews(t *testing.T, open Opener) {
	store := open(t)
	h := s.take(t, store, 9)
	first := h.now()
	h.Use(first.Until, first.Until)
	eventually(t, "more is reserved", func() bool { return h.now().Until.After(first.Until) })
	h.Use(first.Until.Add(24*time.Hour), first.Until.Add(24*time.Hour))
	eventually(t, "much more is reserved", func() bool { return h.now().Until.After(first.Until.Add(24 * time.Hour)) })
	g := h.now()
	row, _, err := open(t).Read(context.Background(), 0, s.Expiry)
	if err != nil || row == nil || row.Until < g.Until.UnixMilli() {
		t.Errorf("row %+v, %v; want it reserved until %v", row, err, g.Until)
	}
	for range 3 { // beats keep it
		seen := row.Token
		eventually(t, "there is another sign of life", func() bool {
			row, _, err = store.Read(context.Background(), 0, s.Expiry)
			return err == nil && row != nil && row.Token != seen
		})
	}
	if g := h.now(); !g.Held || g.Number != 0 {
		t.Errorf("granted %+v", g)
	}
}

// inRange: numbers of a range stay within it.
func (s Suite) inRange(t *testing.T, open Opener) {
	for want := range int64(2) {
		if g := s.take(t, open(t), 99, lease.Range(50, 51), lease.WithExpiry(time.Minute)).now(); g.Number != 50+want {
			t.Errorf("granted %+v; want number %d", g, 50+want)
		}
	}
	if h, err := s.try(t, open(t), 99, lease.Range(50, 51), lease.WithExpiry(time.Minute)); !errors.Is(err, lease.ErrExhausted) {
		t.Errorf("%v, %v; want ErrExhausted", h, err)
	}
	if g := s.take(t, open(t), 99, lease.Range(0, 49)).now(); g.Number != 0 {
		t.Errorf("granted %+v; want number 0", g)
	}
}
