//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
)

// The first seats are for processes under numbers, one more than there are numbers, so
// that one always waits for a number. The processes of the others draw from a counter, if
// the backend has one.
const (
	seats   = 9
	numbers = 5
	stamps  = numbers + 1
)

// plan configures a run.
type plan struct {
	ids    int64 // to collect
	seed   uint64
	layout bits.Layout // zero is short
	rate   int         // of each process, in ids a second; 0 is 20,000
	deck   []card      // dealt once, in order; nil is the backend's, until all has happened
	wants  []string    // events that have to happen
	seeded string      // a fault
	only   kind        // of all generators; empty is every kind
	order  func(o *order, seat int)
	empty  bool // the run begins without processes, and without tables of numbers
	pace   int  // how many times as long as usual a herd lives; 0 is once

	scripted bool // the deck is dealt once, in order
}

// slowest is the greatest pace: on a slow machine, few processes have a number within a usual herd's time.
const slowest = 16

// seat has one process at a time. When a process has ended, another takes its seat.
type seat struct {
	index int
	busy  bool     // an action on it is under way; guarded by run.mu
	now   *process // the present one; guarded by run.mu
}

// run is one run on one backend.
type run struct {
	plan
	backend *backend
	ctx     context.Context
	fail    context.CancelCauseFunc // ends the run, with what must not happen
	seats   []*seat
	ids     atomic.Int64

	mu        sync.Mutex
	processes []*process
	events    map[string]int // how often each happened
	copied    int64          // the counter, as a copy of it has it; used by restore
}

// torture does a run and judges it. It leaves no process behind, even if the run fails.
func torture(ctx context.Context, t *testing.T, b *backend, p plan) result {
	limit := 12*time.Minute + time.Duration(p.ids/10_000)*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the run has not ended within %v", limit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	must(t, b.prepare(ctx, p.empty))
	r := &run{plan: p, backend: b, ctx: ctx, fail: fail, events: map[string]int{}, copied: 1}
	t.Cleanup(r.sweep)
	for i := range seats {
		if i >= stamps && !b.counters {
			break
		}
		r.seats = append(r.seats, &seat{index: i})
	}
	for _, s := range r.seats {
		if !p.empty {
			r.launch(s)
		}
	}
	n := &nemesis{run: r}
	n.rage()
	r.finish()
	if err := context.Cause(ctx); err != nil {
		r.sweep()
		t.Fatalf("%v\n%s", err, r.who(nil))
	}
	rows, counter, err := b.end(ctx, p.empty)
	must(t, err)
	v := judge(r.processes, rows)
	if len(v.faults) > 0 && p.seeded == "" {
		t.Log(r.who(v.tenures))
	}
	return r.result(v, counter)
}

// launch starts a process on a seat. Its kind follows from the seed.
func (r *run) launch(s *seat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	n := len(r.processes) + 1
	rng := rand.New(rand.NewPCG(r.seed, uint64(n)))
	o := order{
		URL: r.backend.seatURL(s.index), Host: fmt.Sprintf("child-%d", n), Kind: r.kind(s), Seed: rng.Uint64(),
		Layout: r.layout, Rate: r.rate, Fault: r.seeded,
		Boost: 1 + rng.IntN(5),
	}
	if r.order != nil {
		r.order(&o, s.index)
	}
	p, err := start(o, func(ids int64) { r.ids.Add(ids) }, r.fail)
	if err != nil {
		r.fail(err)
		return
	}
	s.now = p
	r.processes = append(r.processes, p)
}

// kind returns the kind of a seat's generators.
func (r *run) kind(s *seat) kind {
	switch {
	case r.only != "":
		return r.only
	case s.index >= stamps:
		return kindCounter
	}
	return clocked[s.index%len(clocked)]
}

// leaveFor is how long a process may take to end. It may wait for a locked file, and then
// try for five seconds to give its number back.
const leaveFor = time.Minute

// leave asks a process to end and waits for it. It reports whether it gave its
// number back.
func (r *run) leave(p *process) bool {
	p.asked.Store(true)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return p.closed && p.closing == ""
	case <-time.After(leaveFor):
		r.fail(fmt.Errorf("%s has not ended %v after SIGTERM", p.Host, leaveFor))
		p.kill()
		return false
	}
}

// finish asks all processes to end. No process is started any more.
func (r *run) finish() {
	var all sync.WaitGroup
	for _, s := range r.seats {
		if s.now == nil {
			continue
		}
		all.Go(func() {
			if r.ctx.Err() == nil {
				r.leave(s.now)
			}
		})
	}
	all.Wait()
}

// sweep kills every process that is left.
func (r *run) sweep() {
	r.fail(errors.New("the run is over"))
	r.mu.Lock()
	processes := r.processes
	r.mu.Unlock()
	for _, p := range processes {
		p.kill()
	}
}

// note counts an event.
func (r *run) note(event string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events[event] += n
}

// sleep waits for d, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
