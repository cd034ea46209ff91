package segment

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// closing returns a generator with ranges of 40 ids, and a channel that has what Close
// returned. Close is called, and closes the ring, when the source has made the second range's
// first run or, before that, when it begins to look for the range.
func closing(t *testing.T, w *world, before bool) (*Generator, chan error) {
	config := Config{Step: 40, LoadAt: 50, MaxStep: 40, Logger: slog.New(slog.DiscardHandler)}
	if err := config.prepare(); err != nil {
		t.Fatal(err)
	}
	var started atomic.Bool
	closed := make(chan error, 1)
	end := func(l *loader) {
		go func() { closed <- l.dealer.Close() }()
		synctest.Wait() // the ring is closed
	}
	source := func(l *loader, ctx context.Context) (ringbuffer.Run, error) {
		if started.Load() && before && l.dealer.Ring().Remaining() == 19 {
			end(l)
		}
		run, err := l.next(ctx)
		if run.First == 41 && !before {
			end(l)
		}
		return run, err
	}
	g, err := start(t.Context(), newLoader(&client{w: w, start: 1}, "orders", stripe{}, config), source)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	started.Store(true)
	return g, closed
}

// Close returns the ids of a run that the source has made and the ring has not, and starts
// no load.
func TestCloseMeetsTheSource(t *testing.T) {
	for _, before := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{random: rand.New(rand.NewPCG(1, 1)), calm: true, next: 1, issued: map[uid.ID]int{}, open: map[int]int{}}
			g, closed := closing(t, w, before)
			for range 21 { // one id of the second run
				if _, err := g.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			loads := int64(2)
			if before {
				loads = 1
			}
			if err := <-closed; err != nil || w.next != 22 || g.Stats().Loads != loads {
				t.Errorf("Close() = %v, and the counter is %d after %d loads, want 22 after %d, as 21 ids were issued", err, w.next, g.Stats().Loads, loads)
			}
			time.Sleep(time.Hour)
		})
	}
}
