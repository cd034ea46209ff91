package segment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// world is several processes and an adversary for a store, in virtual time. The
// store takes its time, loses requests and answers, and hangs, sometimes beyond the
// context of a request. Processes draw ids in bursts, end cleanly or are killed, and
// start again.
type world struct {
	random *rand.Rand
	calm   bool // nothing is lost, and nobody is killed
	stripe stripe

	mu     sync.Mutex
	next   int64          // the counter
	issued map[uid.ID]int // the start that issued an id
	open   map[int]int    // loads that a start has under way
	starts int
	faults int // requests and answers lost, and kills
	wrong  []string
}

func newWorld(seed uint64, calm bool) *world {
	return &world{
		random: rand.New(rand.NewPCG(seed, 1)), calm: calm, stripe: whole, next: 1,
		issued: map[uid.ID]int{}, open: map[int]int{},
	}
}

func (w *world) report(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// client is a start's view of the store.
type client struct {
	w     *world
	start int
	dead  bool // killed: what it sends is not done
}

func (c *client) String() string { return "world" }

var errLost = errors.New("lost")

// request is what the adversary does with a request: it calls do or not, and answers
// or not.
func (c *client) request(ctx context.Context, do func()) error {
	w := c.w
	w.mu.Lock()
	fate, latency := w.random.IntN(20), time.Duration(w.random.Int64N(int64(300*time.Millisecond)))
	if w.calm {
		fate = 19
	}
	deaf := fate == 0
	if fate < 2 {
		latency = time.Duration(w.random.Int64N(int64(20 * time.Second)))
		w.faults++ // Close does not wait that long
	}
	w.mu.Unlock()
	ended := ctx.Done()
	if deaf {
		ended = nil
	}
	timer := time.NewTimer(latency)
	defer timer.Stop()
	err := error(nil)
	select {
	case <-timer.C:
	case <-ended:
		err = ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.dead {
		return errLost
	}
	if err != nil || fate == 2 || fate == 3 {
		w.faults++
		if fate != 2 && w.random.IntN(2) == 0 {
			do() // done, and nobody hears of it
		}
		return errors.Join(err, errLost)
	}
	do()
	return nil
}

func (c *client) Reserve(ctx context.Context, _ string, n int64) (first, count int64, err error) {
	c.loading(1)
	defer c.loading(-1)
	err = c.request(ctx, func() {
		first, count = c.w.next, n
		c.w.next += n
	})
	return first, count, err
}

// loading counts the loads that are under way.
func (c *client) loading(change int) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.open[c.start] += change; c.w.open[c.start] > 1 {
		c.w.report("two loads at once by start %d", c.start)
	}
}

func (c *client) Return(ctx context.Context, _ string, first, next int64) (done bool, err error) {
	err = c.request(ctx, func() {
		if done = c.w.next == next; done {
			c.w.next = first
		}
	})
	return done && err == nil, err
}

// live is the life of a process: some starts, one after the other.
func (w *world) live(t *testing.T) {
	for range 3 {
		w.mu.Lock()
		w.starts++
		c := &client{w: w, start: w.starts}
		config := Config{
			Step: 1 + w.random.Int64N(40), LoadAt: 1 + w.random.IntN(99), Ahead: time.Minute, LoadTimeout: 3 * time.Second,
			Logger: slog.New(slog.DiscardHandler), MaxStep: 1000,
		}
		kill := !w.calm && w.random.IntN(3) == 0
		bursts := make([]int, w.random.IntN(6))
		for i := range bursts {
			bursts[i] = w.random.IntN(150)
		}
		pause := time.Duration(w.random.Int64N(int64(time.Second)))
		w.mu.Unlock()
		need.Must(t, config.prepare().Err())
		g, err := start(t.Context(), newLoader(c, "orders", w.stripe, config), (*loader).next)
		if err != nil {
			continue // the store did not answer: nothing was issued
		}
		w.draw(t, g, c.start, bursts, pause)
		w.mu.Lock()
		c.dead = kill
		if kill {
			w.faults++
		}
		w.mu.Unlock()
		if kill {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = g.Shutdown(ctx)
			continue
		}
		_ = g.Close()
	}
}

func (w *world) draw(t *testing.T, g *Counter, start int, bursts []int, pause time.Duration) {
	var takers sync.WaitGroup
	for range 2 {
		takers.Go(func() {
			last := uid.ID(0)
			for _, n := range bursts {
				for range n {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
					id, err := g.Wait(ctx)
					cancel()
					w.mu.Lock()
					if err != nil {
						w.report("a wait of start %d did not end with the store well: %v", start, err)
						w.mu.Unlock()
						return
					}
					if id <= last {
						w.report("id %d is not above %d, the one before", id, last)
					}
					if other, again := w.issued[id]; again {
						w.report("id %d is issued by starts %d and %d", id, other, start)
					}
					w.issued[id], last = start, id
					w.mu.Unlock()
				}
				time.Sleep(pause)
			}
		})
	}
	takers.Wait()
}

// No world repeats an id, loses order, a wake-up or an id, or asks twice at once.
func TestSimulation(t *testing.T) {
	need.Time(t)
	for seed := range uint64(400) {
		w := newWorld(seed, seed%4 == 0)
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
				w.report("the counter is %d, and id %d was issued", w.next, id)
				break
			}
		}
		if lost := w.next - 1 - int64(len(w.issued)); w.faults == 0 && processes == 1 && lost != 0 {
			w.report("%d ids are lost without a reason", lost)
		}
		if len(w.wrong) > 0 {
			t.Fatalf("seed %d: %q", seed, w.wrong)
		}
	}
}
