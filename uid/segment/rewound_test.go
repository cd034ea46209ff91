package segment_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// A generator refuses what is not above its last range, be it by one id, and returns nothing
// from then on. When the counter is raised, it goes on.
func TestRewound(t *testing.T) {
	for _, to := range []int64{1, 1100} {
		synctest.Test(t, func(t *testing.T) { rewind(t, to) })
	}
}

func rewind(t *testing.T, to int64) {
	store := new(counter)
	g := open(t, store, segment.Config{Step: 100, MaxStep: 100})
	take(t, g, 1, 1005)
	synctest.Wait()
	store.Set("orders", to)
	take(t, g, 1006, 95)
	if _, err := g.Wait(t.Context()); !errors.Is(err, uid.ErrRewound) || errors.Is(err, uid.ErrUnavailable) {
		t.Errorf("Wait() = %v, want uid.ErrRewound", err)
	}
	asked := store.requests.Load()
	for range 500 {
		_, _ = g.Next()
		time.Sleep(100 * time.Millisecond)
	}
	if n := store.requests.Load() - asked; n > 0 {
		t.Errorf("%d requests in 50 s, want one a minute", n)
	}
	_, err := store.Raise(t.Context(), "orders", 5001)
	must(t, err)
	time.Sleep(61 * time.Second)
	take(t, g, 5001, 150)
	if err := g.Close(); err != nil || store.next(t) < 5151 {
		t.Errorf("Close() = %v, and the counter is %d", err, store.next(t))
	}
	if s := g.Stats(); s.Loads.Returned != 0 {
		t.Errorf("%d ids were returned to a store that had gone back", s.Loads.Returned)
	}
}

// Ids that the store does not take back, since others have later ones, are not counted as returned.
func TestNotTakenBack(t *testing.T) {
	store := new(counter)
	g := open(t, store, segment.Config{})
	take(t, open(t, store, segment.Config{}), 1001, 1)
	if err := g.Close(); err != nil || g.Stats().Loads.Returned != 0 {
		t.Errorf("Close() = %v, and %d ids were returned", err, g.Stats().Loads.Returned)
	}
}

// Nothing is returned to a store that says that it has gone back, or that has: others may
// have been given what this process holds. Whether Close finds that answer or waits for it
// makes no difference.
func TestCloseOfARewoundStore(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		says  *error
	}{{0, &uid.ErrRewound}, {100 * time.Millisecond, &uid.ErrRewound}, {100 * time.Millisecond, nil}} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			g := open(t, store, segment.Config{Step: 100, MaxStep: 100})
			synctest.Wait()
			store.takes.Store(int64(c.takes))
			store.says.Store(c.says)
			take(t, g, 1, 50) // which begins a load
			synctest.Wait()
			if c.says == nil {
				store.Set("orders", 1)
			}
			if err := g.Stats().LastError; errors.Is(err, uid.ErrRewound) != (c.takes == 0) {
				t.Fatalf("LastError is %v with a load of %v", err, c.takes)
			}
			if err := g.Close(); err != nil || store.next(t) != 101 || g.Stats().Loads.Returned != 0 {
				t.Errorf("Close() = %v; the counter is %d, want 101, and %d ids were returned", err, store.next(t), g.Stats().Loads.Returned)
			}
		})
	}
}
