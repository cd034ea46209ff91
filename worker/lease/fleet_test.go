package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The fleet of this file is of real Leasers in virtual time, on a store that is far and busy. A
// process stamps instants as a generator does: one of two, as Default, the present; the
// other, as Cached, three minutes ahead. No instant is stamped twice under a number.

// far is a store that takes 5 ms to answer and serves so many requests a second, in turn. A
// request goes on when its caller has gone. One answer of 200 is lost.
type far struct {
	leasetest.Memory
	perSecond int64
	away      atomic.Bool

	mu     sync.Mutex
	free   time.Time     // when the store begins the next request
	asked  map[int64]int // requests by second
	issued int64         // the greatest number inserted, and 1
}

var errAway = errors.New("the store is away")

// link is the store as one process reaches it.
type link struct {
	*far
	cut atomic.Bool
}

func served[T any](ctx context.Context, s *link, request func(context.Context) (T, error)) (none T, _ error) {
	const trip = 5 * time.Millisecond
	s.mu.Lock()
	now := time.Now()
	s.asked[now.Unix()]++
	begins := now
	if !s.away.Load() {
		if s.free.After(now) {
			begins = s.free
		}
		s.free = begins.Add(time.Second / time.Duration(s.perSecond))
	}
	s.mu.Unlock()
	type result struct {
		answer T
		err    error
	}
	answered := make(chan result, 1)
	time.AfterFunc(begins.Sub(now)+trip, func() {
		r := result{err: errAway}
		if !s.away.Load() && !s.cut.Load() {
			r.answer, r.err = request(context.WithoutCancel(ctx))
		}
		if rand.IntN(200) > 0 {
			answered <- r
		}
	})
	select {
	case r := <-answered:
		return r.answer, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (s *link) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	return served(ctx, s, func(ctx context.Context) (leasestore.View, error) { return s.Memory.Look(ctx, within, full, expiry) })
}

func (s *link) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	type both struct {
		row *leasestore.Row
		now int64
	}
	b, err := served(ctx, s, func(ctx context.Context) (b both, err error) {
		b.row, b.now, err = s.Memory.Read(ctx, number, expiry)
		return b, err
	})
	return b.row, b.now, err
}

func (s *link) Insert(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	type both struct {
		number int64
		done   bool
	}
	b, err := served(ctx, s, func(ctx context.Context) (b both, err error) {
		b.number, b.done, err = s.Memory.Insert(ctx, w)
		if b.done {
			s.mu.Lock()
			s.issued = max(s.issued, b.number+1)
			s.mu.Unlock()
		}
		return b, err
	})
	return b.number, b.done, err
}

func (s *link) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	return served(ctx, s, func(ctx context.Context) (bool, error) { return s.Memory.Swap(ctx, old, w) })
}

func (s *link) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	return served(ctx, s, func(ctx context.Context) (string, error) { return s.Memory.SwapLayout(ctx, old, terms) })
}

// fleet is what the processes share.
type fleet struct {
	store *far
	limit int64
	ended chan struct{}
	alive sync.WaitGroup

	mu      sync.Mutex
	stamped map[int64][]stamped // by number
	seen
}

// stamped is what a process stamped under one grant: some of the instants from one to another.
type stamped struct {
	by                 *process
	since, from, until time.Time // since is the grant's From
}

// seen is what happened in a part of the story.
type seen struct {
	last     time.Time // when a process got its number that had none
	without  int       // processes without a number
	stamps   int
	failed   int // stamps of the present that had no reserved time
	repeated int
	starts   int // that failed
}

type process struct {
	fleet  *fleet
	eager  bool // it stamps three minutes ahead
	link   link
	offset atomic.Int64 // of its clock, in milliseconds

	mu    sync.Mutex
	grant lease.Grant
	until time.Time // it has stamped
}

func (p *process) clock() time.Time {
	return time.Now().Add(time.Duration(p.offset.Load()) * time.Millisecond)
}

// anyWithout says whether a process is without a number once all that can run has run.
func (f *fleet) anyWithout() bool {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.without > 0
}

// granted implements Request.Granted.
func (p *process) granted(g lease.Grant) {
	p.mu.Lock()
	held := p.grant.Held
	p.grant = g
	p.mu.Unlock()
	p.fleet.mu.Lock()
	defer p.fleet.mu.Unlock()
	switch {
	case g.Held && !held:
		p.fleet.without--
		p.fleet.last = time.Now()
	case !g.Held && held:
		p.fleet.without++
	}
}

// run starts a process, again and again until it has a number, has it stamp every five
// seconds, and ends it when life is over: a crash gives nothing back.
func (f *fleet) run(life time.Duration, crash bool) {
	p := &process{fleet: f, eager: rand.IntN(2) > 0}
	p.link.far = f.store
	p.offset.Store(rand.Int64N(200) - 100)
	leaser := lease.New(&p.link, lease.Config{Window: fleetWindow, Logger: slog.New(slog.DiscardHandler)})
	f.mu.Lock()
	f.without++
	f.mu.Unlock()
	f.alive.Go(func() {
		var held lease.Lease
		for held == nil {
			var err error
			if held, err = leaser.Lease(context.Background(), lease.Request{Limit: f.limit, Clock: p.clock, Granted: p.granted, Layout: "fleet"}); err != nil {
				f.mu.Lock()
				f.starts++
				f.mu.Unlock()
				time.Sleep(time.Second + rand.N(time.Second)) // as an orchestrator does
			}
		}
		over := time.After(life)
		for ticks := time.NewTicker(20*time.Second + rand.N(time.Second)); ; {
			p.stamp(held)
			if rand.IntN(100) == 0 {
				p.offset.Add(rand.Int64N(4000) - 2000) // a clock step
			}
			p.mu.Lock()
			holds := p.grant.Held
			p.mu.Unlock()
			if holds && rand.IntN(500) == 0 { // cut off, for longer than the expiry
				p.link.cut.Store(true)
				time.AfterFunc(2*lease.DefaultExpiry, func() { p.link.cut.Store(false) })
			}
			select {
			case <-ticks.C:
				continue
			case <-over:
			case <-f.ended:
			}
			ticks.Stop()
			break
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if crash {
			cancel()
		}
		p.mu.Lock()
		next := p.until
		if !p.grant.Held {
			f.mu.Lock()
			f.without--
			f.mu.Unlock()
		}
		p.grant = lease.Grant{Held: p.grant.Held} // nothing is stamped from now on
		p.mu.Unlock()
		_ = held.Release(ctx, next) // an unavailable store is part of the story
	})
}

// stamp stamps what the process may: [from, until).
func (p *process) stamp(held lease.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, now, f := p.grant, p.clock(), p.fleet
	until := now
	if ahead := now.Add(3 * time.Minute); p.eager {
		if until = g.Until; until.After(ahead) {
			until = ahead
		}
	}
	from := now.Add(-time.Millisecond)
	if from.Before(g.From) {
		from = g.From
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamps++
	if !g.Held || until.After(g.Until) || !from.Before(until) {
		f.failed++
		held.Use(now, until)
		return
	}
	all := f.stamped[g.Number]
	i := slices.IndexFunc(all, func(s stamped) bool { return s.by == p && s.since.Equal(g.From) })
	if i < 0 {
		i = len(all)
		all = append(all, stamped{p, g.From, from, until})
		f.stamped[g.Number] = all
	}
	own := &all[i]
	if until.After(own.until) {
		own.until = until
	}
	if from.Before(own.from) {
		own.from = from
	}
	if slices.ContainsFunc(all, func(s stamped) bool { return s.by != p && own.from.Before(s.until) && s.from.Before(own.until) }) {
		f.repeated++
	}
	p.until = until
	held.Use(until, until)
}

// fleetWindow is shorter than the default, so that a store may be away for longer.
const fleetWindow = 4 * time.Minute

// story tells what happened since the last call, and checks it. Of the stamps of the present, one
// of mostFailed may fail. A process that was cut off and lost its number has ten seconds to get one.
func (f *fleet) story(t *testing.T, what string, began time.Time, mostRequests, mostFailed int) {
	t.Helper()
	for ends := time.Now().Add(10 * time.Second); f.anyWithout() && time.Now().Before(ends); {
		time.Sleep(100 * time.Millisecond)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.seen
	f.seen = seen{without: s.without}
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	peak := 0
	for _, n := range f.store.asked {
		peak = max(peak, n)
	}
	f.store.asked = map[int64]int{}
	last := "nobody got a number"
	if s.last.After(began) {
		last = fmt.Sprintf("the last has its number after %.1f s", s.last.Sub(began).Seconds())
	}
	t.Logf("%s: %s; peak %d requests a second; %d of %d calls and %d starts failed; %d numbers given; %d repeats",
		what, last, peak, s.failed, s.stamps, s.starts, f.store.issued, s.repeated)
	if s.repeated > 0 || s.without > 0 || s.stamps == 0 {
		t.Errorf("%s: %d repeats, and %d processes are without a number; want 0 and 0", what, s.repeated, s.without)
	}
	if peak > mostRequests || s.failed > s.stamps/mostFailed {
		t.Errorf("%s: %d requests in a second, %d of %d calls failed; want %d requests at most, and one of %d calls",
			what, peak, s.failed, s.stamps, mostRequests, mostFailed)
	}
}

// TestFleet: starts, restarts, outages and crashes of a fleet. A store that comes back is not
// overrun. UIDRING_FLEET is the number of processes.
func TestFleet(t *testing.T) {
	need.Time(t)
	size := 300
	if text := os.Getenv("UIDRING_FLEET"); text != "" {
		size, _ = strconv.Atoi(text)
	}
	t.Run("many numbers", func(t *testing.T) { tell(t, size, 1<<22-1, 200) })
	few := min(size, 1000)
	t.Run("few numbers", func(t *testing.T) { tell(t, few, int64(few)*3/2, 20) }) // in the end, none is new
}

// tell has the story of a fleet. Of the calls while processes restart, one of mostFailed may fail.
func tell(t *testing.T, size int, limit int64, mostFailed int) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{limit: limit, store: &far{perSecond: int64(size / 5), asked: map[int64]int{}}, stamped: map[int64][]stamped{}, ended: make(chan struct{})}
		began := time.Now()
		for range size / 10 * 9 {
			f.run(24*time.Hour, false)
		}
		// A tenth goes each minute from the third on, and its successors come.
		tenth := func(life time.Duration, crash bool) {
			for range size / 10 {
				f.run(life, crash)
			}
		}
		tenth(2*time.Minute, false)
		time.Sleep(2*time.Minute - time.Second)
		f.story(t, fmt.Sprintf("a cold start of %d", size), began, 2*size, 200)

		began = time.Now()
		for range 3 {
			tenth(time.Minute, false)
			time.Sleep(time.Minute)
		}
		f.story(t, "a tenth restarts each minute", began, size/2, mostFailed)

		for _, outage := range []struct {
			away         time.Duration
			failed, back int
		}{{fleetWindow / 2, 200, 200}, {fleetWindow * 5 / 4, 2, 10}} {
			began = time.Now()
			f.store.away.Store(true)
			time.Sleep(outage.away)
			f.story(t, fmt.Sprintf("the store is away for %v", outage.away), began, 2*size, outage.failed)
			began = time.Now()
			f.store.away.Store(false)
			time.Sleep(time.Minute)
			f.story(t, fmt.Sprintf("the store is back after %v", outage.away), began, size/2, outage.back)
		}

		began = time.Now()
		for range 9 {
			tenth(19*time.Second, true)
			time.Sleep(20 * time.Second)
		}
		time.Sleep(time.Minute)
		f.story(t, "a deployment crashes every 20 s", began, size/2, mostFailed)
		close(f.ended)
		f.alive.Wait()
		time.Sleep(time.Minute) // for requests whose callers have gone
	})
}
