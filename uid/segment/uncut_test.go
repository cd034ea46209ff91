package segment

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
)

// closeMeanwhile calls Close while the source makes the second run, from which a caller
// waits for one id, and calls meanwhile when the ring is closed. The generator has issued
// the ids 1 to 21.
func closeMeanwhile(t *testing.T, w *world, meanwhile func(*loader)) {
	config := Config{Step: 40, LoadAt: 50, MaxStep: 40, Logger: slog.New(slog.DiscardHandler)}
	need.Must(t, config.prepare().Err())
	var g atomic.Pointer[Counter]
	closed := make(chan error, 1)
	source := func(l *loader, ctx context.Context) (ringbuffer.Run, error) {
		run, err := l.next(ctx)
		if g := g.Load(); g != nil && run.First == 41 {
			go func() { closed <- g.Close() }()
			synctest.Wait() // Close waits for this call
			meanwhile(l)
		}
		return run, err
	}
	made, err := start(t.Context(), newLoader(&client{w: w, start: 1}, "orders", whole, config), source)
	need.Must(t, err)
	g.Store(made)
	for range 21 { // one id of the second run
		_, err := made.Wait(t.Context())
		need.Must(t, err)
	}
	need.Must(t, <-closed)
	time.Sleep(time.Hour)
}

// Close returns the ids of a run that the source has made and the ring has not.
func TestCloseReturnsTheRunOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, true)
		closeMeanwhile(t, w, func(*loader) {})
		if w.next != 22 {
			t.Errorf("the counter is %d, want 22, as 21 ids were issued", w.next)
		}
	})
}

// A generator that closes reserves no more ids: its empty ring needs none.
func TestClosingNeedsNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closeMeanwhile(t, newWorld(1, true), func(l *loader) {
			for left := true; left; {
				run, load, err := l.advance()
				if load != nil || err != nil {
					t.Errorf("%v, %v; want neither a load nor an error", load, err)
				}
				left = run.N > 0
			}
		})
	})
}
