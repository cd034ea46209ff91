//go:build linux

package torture

import (
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// card is an action of the nemesis.
type card func(*nemesis)

// deckOf returns the actions for a backend.
func deckOf(b *backend) []card {
	deck := []card{
		kill, kill, kill, pause, pause, pause, restart, restart,
		forward, forward, forward, forward, back, back, back,
	}
	if b.counters {
		deck = append(deck, restore)
	}
	if len(b.servers) == 0 {
		return append(deck, lock, lock, lock)
	}
	return append(deck, outage, outage, cut, blackhole, blackhole)
}

// nemesis carries out the cards of its deck, in an order and for times that follow from
// the seed. Several actions run at a time: one on the database, and one on each of some
// seats.
type nemesis struct {
	*run
	rng      *rand.Rand // of the card being dealt, so that a seed always has the same cards dealt
	going    sync.WaitGroup
	database sync.Mutex // held during an action on the database
}

// rage deals the deck again and again, at least once, until there are enough ids and each
// event that the run needs has happened.
func (n *nemesis) rage() {
	defer n.going.Wait()
	shuffler := rand.New(rand.NewPCG(n.seed, 0))
	for dealt := false; ; dealt = true {
		if !n.scripted {
			shuffler.Shuffle(len(n.deck), func(i, j int) { n.deck[i], n.deck[j] = n.deck[j], n.deck[i] })
		}
		for _, play := range n.deck {
			n.rng = rand.New(rand.NewPCG(n.seed, shuffler.Uint64()))
			if dealt && n.enough() || sleep(n.ctx, n.between(100*time.Millisecond, 500*time.Millisecond)) != nil {
				return
			}
			play(n)
		}
		if n.enough() {
			return
		}
	}
}

func (n *nemesis) enough() bool {
	return n.ids.Load() >= n.plan.ids && (n.scripted || n.happened())
}

// happened reports whether the events have happened that the nemesis cannot force: a
// number was lost, one was given back, and there was a connection to cut.
func (n *nemesis) happened() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.events["clean restarts"] > 0 && (n.events["connections cut"] > 0 || len(n.backend.servers) == 0) &&
		slices.ContainsFunc(n.processes, func(p *process) bool { return p.losses.Load() > 0 })
}

func (n *nemesis) between(least, most time.Duration) time.Duration {
	return least + time.Duration(n.rng.Int64N(int64(most-least)))
}

// anybody, (*process).holding and (*process).stamping are conditions for take.
func anybody(*process) bool { return true }

// holders returns the condition for processes that draw ids, or, once in five times, for
// any.
func (n *nemesis) holders() func(*process) bool {
	if n.rng.IntN(5) == 0 {
		return anybody
	}
	return (*process).holding
}

// take chooses a seat that is not busy and whose process fulfils a condition. The seat is
// busy until give is called. take returns nil when the run ends.
func (n *nemesis) take(will func(*process) bool) (*seat, *process) {
	for n.ctx.Err() == nil {
		for _, i := range n.rng.Perm(len(n.seats)) {
			if s := n.seats[i]; n.mine(s, will) {
				return s, s.now
			}
		}
		_ = sleep(n.ctx, 20*time.Millisecond)
	}
	return nil, nil
}

// mine takes a seat unless it is busy or its process does not fulfil the condition.
func (n *nemesis) mine(s *seat, will func(*process) bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.busy || s.now == nil || !will(s.now) {
		return false
	}
	s.busy = true
	return true
}

func (n *nemesis) give(s *seat) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.busy = false
}

// seize takes a seat whose process fulfils a condition, and does something to it in the
// background.
func (n *nemesis) seize(will func(*process) bool, do func(s *seat, p *process)) {
	if s, p := n.take(will); s != nil {
		n.going.Go(func() {
			defer n.give(s)
			do(s, p)
		})
	}
}

// kill kills a process, and starts another.
func kill(n *nemesis) {
	after := n.between(0, 500*time.Millisecond)
	n.seize(n.holders(), func(s *seat, p *process) {
		p.kill()
		n.note("kills (-9)", 1)
		_ = sleep(n.ctx, after)
		n.launch(s)
	})
}

// herd starts sixty processes at the same time, and kills each after a random time: some before they
// have a number, others while they draw ids.
func herd(n *nemesis) {
	for i := range 60 {
		n.member(i%stamps, 0, n.between(0, 2500*time.Millisecond), "starts in a herd")
	}
	n.going.Wait()
}

// joined is a herd, into which processes of the other seats start.
func joined(n *nemesis) {
	for i := range 4 {
		n.member(stamps+i%(seats-stamps), n.between(50*time.Millisecond, 800*time.Millisecond), 2500*time.Millisecond, "starts into a herd")
	}
	herd(n)
}

// member starts a process after a time, and kills it after another, which grows with the pace.
func (n *nemesis) member(index int, begin, end time.Duration, event string) {
	n.going.Go(func() {
		_ = sleep(n.ctx, begin)
		s := &seat{index: index}
		if n.launch(s); s.now == nil {
			return
		}
		_ = sleep(n.ctx, end*time.Duration(max(1, n.pace)))
		if s.now.opened.Load() {
			n.note(event+" that had a number", 1)
		}
		s.now.kill()
		n.note(event, 1)
	})
}

// pause stops a process for longer than its number's expiry.
func pause(n *nemesis) {
	d := n.between(expiry*5/4, window*3/2)
	n.seize(n.holders(), func(_ *seat, p *process) {
		p.signal(syscall.SIGSTOP)
		_ = sleep(n.ctx, d)
		p.signal(syscall.SIGCONT)
		n.note("pauses", 1)
	})
}

// restart asks a process to end, and starts another.
func restart(n *nemesis) {
	after := n.between(0, 300*time.Millisecond)
	n.seize((*process).holding, func(s *seat, p *process) {
		if n.leave(p) {
			n.note("clean restarts", 1)
		}
		_ = sleep(n.ctx, after)
		n.launch(s)
	})
}

// forward moves a clock by hours, or a little further than it was. If a clock lies behind
// the time of its number, or of the last id, forward moves that clock there first.
// Otherwise uid.Default, and a uid.Cached that may borrow little, would make no more ids
// after some steps.
func forward(n *nemesis) {
	shift := n.between(time.Hour, 5*time.Hour)
	s := n.late()
	if s != nil {
		shift = s.now.shift + time.Duration(s.now.lacks.Load())*time.Millisecond + time.Second
	} else if s, _ = n.take((*process).stamping); s == nil { // not one whose clock is still being compared with the database's
		return
	}
	defer n.give(s)
	s.now.move(max(shift, s.now.shift+time.Minute))
	n.note("clock steps forward", 1)
}

// back moves a clock back by hours.
func back(n *nemesis) {
	shift := -n.between(time.Hour, 5*time.Hour)
	s, p := n.take((*process).stamping)
	if s == nil {
		return
	}
	defer n.give(s)
	p.move(min(shift, p.shift-time.Minute))
	n.note("clock steps back", 1)
}

// late takes a seat whose clock keeps it from making ids.
func (n *nemesis) late() *seat {
	for _, s := range n.seats {
		if n.mine(s, (*process).stamping) {
			if s.now.lacks.Load() > time.Second.Milliseconds() {
				return s
			}
			n.give(s)
		}
	}
	return nil
}

// idle is a pause for everything.
func idle(n *nemesis) { _ = sleep(n.ctx, window) }
