package protocol

import "fmt"

// process is a process with one holder, as package worker and a generator drive
// it: one request at a time, and ticks stamped at any time between.
type process struct {
	id     int
	exact  int64
	holder Holder
	offset int64 // of its clock
	state  state
	paused bool

	name   int // its tokens are made of name
	minted int // and this count

	calls   int // so far
	waiting bool
	request Request // while waiting

	last     int64           // end of the last tick stamped
	moved    bool            // its number has changed since
	reserved map[int64]int64 // by number: what was committed under its tokens
	claim    *span           // what its grant is recorded as, while held and not leaving
	owes     error           // what the end of its next round must match
}

// state is how far a process has got in its life.
type state int

const (
	up state = iota
	leaving
	ended
)

func (p *process) String() string { return fmt.Sprintf("p%d", p.id) }

// token returns the source of p's tokens.
func (p *process) token(w *world) func() string {
	return func() string {
		p.minted++
		token := fmt.Sprintf("%d.%d", p.name, p.minted)
		w.mint(p, token)
		return token
	}
}

func (p *process) exists() bool { return p.state != ended }

func (p *process) sleeps() bool { return p.paused && p.exists() }

// running is whether p does anything.
func (p *process) running() bool { return !p.paused && p.exists() }

// stamps is whether p may stamp.
func (p *process) stamps() bool { return !p.paused && p.state == up }

// free is whether p may ask the store for something.
func (p *process) free() bool { return p.running() && !p.waiting }

func (p *process) clock(w *world) int64 { return max(0, w.now+p.offset) }

// send has p ask the store for what its holder wants.
func (w *world) send(p *process) message {
	r := p.holder.Next()
	p.calls++
	p.waiting, p.request = true, r
	if r.Token != "" {
		w.pledged[r.Token] = r.Until
	}
	w.note("%v sends %+v", p, r)
	return message{to: p, call: p.calls, request: r}
}

// take tells p what came of what it waits for. epoch is the world's when the
// store answered.
func (w *world) take(p *process, a Answer, epoch int) (done bool, err error) {
	before, r := p.holder, p.request
	p.waiting = false
	done, err = p.holder.Take(r, a)
	if w.seams.taken != nil {
		w.seams.taken(p)
	}
	w.note("%v is told %+v: done %v, err %v, %v", p, a, done, err, p.owns())
	w.took(p, before, r, a, done, err, epoch)
	if done && p.state == leaving {
		p.state = ended
		w.note("%v has left", p)
	}
	return done, err
}

func (p *process) owns() string {
	if g, held := p.holder.Grant(); held {
		return fmt.Sprintf("owns [%d, %d) of %d", g.From, g.Until, g.Number)
	}
	return "owns nothing"
}

// stamp has p stamp n ticks, one after the other, or as many as it may. It
// returns how many.
func (w *world) stamp(p *process, n int64) int64 {
	g, held := p.holder.Grant()
	if !held || !p.stamps() && !(w.seams.zombie && p.running()) {
		return 0
	}
	begin := max(p.last, p.clock(w)/w.tick*w.tick, ceil(g.From, w.tick))
	if w.seams.begin != nil {
		begin = w.seams.begin(p, begin)
	}
	until := g.Until
	if w.seams.end != nil {
		until = w.seams.end(w, p, g)
	}
	fit := min(n, (until-begin)/w.tick)
	if fit < n {
		// As a generator at the end of its window: it says what it needs.
		p.holder.Use(begin+(max(fit, 0)+1)*w.tick, 0)
	}
	if fit <= 0 {
		return 0
	}
	end := begin + fit*w.tick
	w.note("%v stamps [%d, %d) of %d", p, begin, end, g.Number)
	w.stamped(p, g, begin, end)
	p.last, p.moved = end, false
	ahead := int64(0)
	if w.rng.IntN(4) == 0 {
		ahead = end + w.rng.Int64N(4*w.window)
	}
	p.holder.Use(end, ahead)
	return fit
}

// leave has p stop, and give its number back.
func (w *world) leave(p *process) {
	if p.waiting { // whoever closes it gives up the request under way
		w.take(p, Answer{Err: errTimeout}, w.epoch)
	}
	w.note("%v leaves, %d is next", p, p.last)
	w.left(p)
	if p.holder.Leave(p.last) {
		p.state = leaving
	} else {
		p.state = ended
	}
}

// ceil rounds up to a multiple of tick.
func ceil(instant, tick int64) int64 { return (instant + tick - 1) / tick * tick }
