package segment

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
)

// simulate runs a world and returns what is wrong.
func simulate(t *testing.T, seed uint64, s seams) map[breach]string {
	w := newWorld(seed)
	w.seams, w.calm = s, seed%4 == 0
	if seed%3 == 0 {
		w.stripe = stripe{block: 7, index: 1, of: 3}
	}
	processes := 1 + int(seed/4%3)
	synctest.Test(t, func(t *testing.T) {
		var living sync.WaitGroup
		for range processes {
			living.Go(func() { w.live(t) })
		}
		living.Wait()
		time.Sleep(time.Hour) // the last requests end
	})
	for id := range w.issued {
		if w.stripe.count(int64(id)) >= w.next {
			w.report(notIssued, "%d, and the counter is %d", id, w.next)
			break
		}
	}
	if lost := w.next - 1 - int64(len(w.issued)); w.faults == 0 && processes == 1 && lost != 0 {
		w.report(gap, "%d", lost)
	}
	return w.wrong
}

// No world repeats an id, loses order, a wake-up or an id, or asks twice at once.
func TestSimulation(t *testing.T) {
	need.Time(t)
	for seed := range uint64(400) {
		if wrong := simulate(t, seed, seams{}); len(wrong) > 0 {
			t.Fatalf("seed %d: %q", seed, wrong)
		}
	}
}

// The simulator finds the faults that a wrong generator or store would have.
func TestSeededFaults(t *testing.T) {
	for name, f := range map[string]struct {
		want  breach
		seams seams
	}{
		"ids are returned without condition": {repeated, seams{returns: func(w *world, first, _ int64) bool {
			w.next = first
			return true
		}}},
		"an id that was issued is returned": {repeated, seams{returns: func(w *world, first, next int64) bool {
			done := w.next == next
			if done {
				w.next = max(1, first-1)
			}
			return done
		}}},
		"ids are returned although another process has reserved": {repeated, seams{returns: func(w *world, first, next int64) bool {
			if w.next >= next {
				w.next = first
			}
			return true
		}}},
		"what is left is not returned": {gap, seams{returns: func(*world, int64, int64) bool { return false }}},
		"a range is used though its answer was lost": {repeated, seams{reserve: func(_ *world, c *client, n int64) (int64, int64, error) {
			if c.last == 0 {
				return 0, 0, errLost
			}
			return c.last, n, nil
		}}},
		"a load is forgotten before the next is ready": {twice, seams{source: func(l *loader, ctx context.Context) (ringbuffer.Run, error) {
			run, err := l.next(ctx)
			l.mu.Lock()
			defer l.mu.Unlock()
			if err != nil && l.load != nil && !l.load.Done() {
				l.load = nil
			}
			return run, err
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(400) {
				if _, found := simulate(t, seed, f.seams)[f.want]; found {
					return
				}
			}
			t.Errorf("not found: %s", f.want)
		})
	}
}
