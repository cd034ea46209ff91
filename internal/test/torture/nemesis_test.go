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
type card int

const (
	cardKill      card = iota // kill -9, and start another
	cardPause                 // SIGSTOP for longer than the expiry
	cardClose                 // SIGTERM, and start another
	cardForward               // a clock steps forward by hours
	cardBack                  // a clock steps back by hours
	cardOutage                // kill -9 of a server, or of all
	cardRestore               // the counter is restored from a copy
	cardLock                  // the file is locked
	cardLongLock              // the file is locked for twice the window
	cardQuiet                 // a pause for the database
	cardRest                  // a pause for everything
	cardCut                   // connections are cut
	cardBlackhole             // bytes are held back
	cardPartition             // the links of namespaces are down
)

// deckOf returns the actions for a backend.
func deckOf(b *backend) []card {
	deck := []card{
		cardKill, cardKill, cardKill, cardPause, cardPause, cardPause, cardClose, cardClose,
		cardForward, cardForward, cardForward, cardForward, cardBack, cardBack, cardBack,
	}
	if b.counters {
		deck = append(deck, cardRestore)
	}
	if len(b.servers) == 0 {
		return append(deck, cardLock, cardLock, cardLock)
	}
	return append(deck, cardOutage, cardOutage, cardCut, cardBlackhole, cardBlackhole)
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
		for _, c := range n.deck {
			n.rng = rand.New(rand.NewPCG(n.seed, shuffler.Uint64()))
			if dealt && n.enough() || sleep(n.ctx, n.between(100*time.Millisecond, 500*time.Millisecond)) != nil {
				return
			}
			n.play(c)
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
	return n.tally.closed > 0 && (n.tally.cut > 0 || len(n.backend.servers) == 0) && slices.ContainsFunc(n.processes, func(p *process) bool { return p.losses.Load() > 0 })
}

func (n *nemesis) between(least, most time.Duration) time.Duration {
	return least + time.Duration(n.rng.Int64N(int64(most-least)))
}

// play carries out a card, or starts to do so in the background.
func (n *nemesis) play(c card) {
	switch c {
	case cardKill:
		n.kill(n.between(0, 500*time.Millisecond))
	case cardPause:
		n.pause(n.between(expiry*5/4, window*3/2))
	case cardClose:
		n.close(n.between(0, 300*time.Millisecond))
	case cardForward:
		n.forward(n.between(time.Hour, 5*time.Hour))
	case cardBack:
		n.back(-n.between(time.Hour, 5*time.Hour))
	case cardOutage:
		n.outage(n.between(expiry/4, window*3/2))
	case cardRestore:
		n.restore()
	case cardLock:
		n.lock(n.between(expiry, window*3/2))
	case cardLongLock:
		n.lock(2 * window)
	case cardRest:
		_ = sleep(n.ctx, window)
	case cardQuiet:
		n.havoc(func() error { return sleep(n.ctx, window) })
	case cardCut:
		n.cut()
	case cardBlackhole:
		n.blackhole(n.between(expiry, window*3/2))
	case cardPartition:
		n.partition(n.between(window*4/3, 2*window))
	}
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

// kill kills a process.
func (n *nemesis) kill(after time.Duration) {
	s, p := n.take(n.holders())
	if s == nil {
		return
	}
	n.going.Go(func() {
		defer n.give(s)
		p.kill()
		n.note(func(t *tally) { t.killed++ })
		_ = sleep(n.ctx, after)
		n.launch(s)
	})
}

// pause stops a process for longer than its number's expiry.
func (n *nemesis) pause(d time.Duration) {
	s, p := n.take(n.holders())
	if s == nil {
		return
	}
	n.going.Go(func() {
		defer n.give(s)
		p.signal(syscall.SIGSTOP)
		_ = sleep(n.ctx, d)
		p.signal(syscall.SIGCONT)
		n.note(func(t *tally) { t.paused++ })
	})
}

// close asks a process to end.
func (n *nemesis) close(after time.Duration) {
	s, p := n.take((*process).holding)
	if s == nil {
		return
	}
	n.going.Go(func() {
		defer n.give(s)
		if n.leave(p) {
			n.note(func(t *tally) { t.closed++ })
		}
		_ = sleep(n.ctx, after)
		n.launch(s)
	})
}

// forward moves a clock to an error of shift, or a little further than it was. If a clock
// lies behind the time of its number, or of the last id, forward moves that clock there
// first. Otherwise uid.Default, and a uid.Cached that may borrow little, would make no
// more ids after some steps.
func (n *nemesis) forward(shift time.Duration) {
	s := n.late()
	if s != nil {
		shift = s.now.shift + time.Duration(s.now.lacks.Load())*time.Millisecond + time.Second
	} else if s, _ = n.take((*process).stamping); s == nil { // not one whose clock is still being compared with the database's
		return
	}
	defer n.give(s)
	s.now.move(max(shift, s.now.shift+time.Minute))
	n.note(func(t *tally) { t.forward++ })
}

// back moves a clock back to an error of shift.
func (n *nemesis) back(shift time.Duration) {
	s, p := n.take((*process).stamping)
	if s == nil {
		return
	}
	defer n.give(s)
	p.move(min(shift, p.shift-time.Minute))
	n.note(func(t *tally) { t.back++ })
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
