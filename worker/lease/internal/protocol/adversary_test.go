package protocol

import "slices"

// kind is a kind of event: what the adversary does next.
type kind int

const (
	stampFew kind = iota
	stampMany
	ask
	exchange
	round
	deliver
	drop
	giveUp
	pass
	passLong
	stepClock
	stepStore
	pause
	resume
	kill
	leave
	restart
	outage
	beyond // what the mode adds
	kinds
)

// events says how often each kind happens, and how. It returns whether it did.
// Those that are steady happen in each run; how often others do is drawn.
var events = [kinds]struct {
	weight int
	steady bool
	do     func(w *world) bool
}{
	stampFew:  {100, true, func(w *world) bool { return w.stampSome(1 + w.rng.Int64N(4)) }},
	stampMany: {15, false, func(w *world) bool { return w.stampSome(1 + w.rng.Int64N(100)) }},
	ask:       {50, true, (*world).ask},
	exchange:  {50, true, (*world).exchange},
	round:     {25, false, (*world).round},
	deliver:   {120, true, (*world).deliver},
	drop:      {8, false, (*world).drop},
	giveUp:    {15, true, (*world).giveUp},
	pass:      {40, true, func(w *world) bool { w.pass(w.rng.Int64N(w.window/2 + 2)); return true }},
	passLong:  {3, false, func(w *world) bool { w.pass(w.expiry + w.rng.Int64N(2*w.window)); return true }},
	stepClock: {6, false, (*world).stepClock},
	stepStore: {2, false, (*world).stepStore},
	pause:     {4, false, (*world).pause},
	resume:    {12, true, (*world).resume},
	kill:      {3, false, (*world).kill},
	leave:     {4, false, (*world).leaveOne},
	restart:   {40, true, (*world).restart},
	outage:    {2, false, (*world).outage},
	beyond:    {6, true, (*world).beyond},
}

// weigh draws how often each kind of event happens in this run.
func (w *world) weigh() {
	for k, e := range events {
		n := e.weight
		switch {
		case kind(k) == beyond && w.mode == promise:
			n = 0
		case !e.steady:
			n *= []int{0, 1, 1, 4}[w.rng.IntN(4)]
		}
		w.weights[k] = n
		w.total += n
	}
}

// step has one event happen.
func (w *world) step() {
	for {
		n := w.rng.IntN(w.total)
		k := 0
		for n >= w.weights[k] {
			n -= w.weights[k]
			k++
		}
		if events[k].do(w) {
			return
		}
	}
}

func (w *world) stampSome(n int64) bool {
	p := w.pick(func(p *process) bool { return p.state == up && !p.paused || w.seams.zombie })
	if p == nil {
		return false
	}
	if w.stamp(p, n) > w.window/w.tick/2 {
		w.count(borrowings)
	}
	return true
}

// ask sends one request, which is then on its way.
func (w *world) ask() bool {
	p := w.pick((*process).free)
	if p == nil {
		return false
	}
	w.mail = append(w.mail, w.send(p))
	return true
}

// exchange sends a request that is answered at once.
func (w *world) exchange() bool {
	p := w.pick((*process).free)
	if p == nil {
		return false
	}
	m := w.send(p)
	w.take(p, w.execute(m), w.epoch)
	return true
}

// round asks and is answered until there is no more to ask.
func (w *world) round() bool {
	p := w.pick((*process).free)
	if p == nil {
		return false
	}
	w.finish(p)
	return true
}

// finish has p end a round, in which nothing comes between.
func (w *world) finish(p *process) (done bool, err error) {
	for range 20 {
		m := w.send(p)
		if done, err = w.take(p, w.execute(m), w.epoch); done || err != nil {
			return done, err
		}
	}
	w.fail(endless, "%v is not done after 20 requests of one round", p)
	return false, nil
}

// deliver has a message arrive: at the store or at who asked.
func (w *world) deliver() bool {
	if len(w.mail) == 0 {
		return false
	}
	i := w.rng.IntN(len(w.mail))
	m := w.mail[i]
	p := m.to
	if m.answer != nil {
		if p.paused && p.state != ended {
			return false // it waits in a buffer
		}
		w.mail = slices.Delete(w.mail, i, i+1)
		if p.waiting && p.calls == m.call {
			w.take(p, *m.answer, m.epoch)
		}
		return true
	}
	if m.late || !w.percent(w.doubled) {
		w.mail = slices.Delete(w.mail, i, i+1)
	} else {
		w.mail[i].late = true
	}
	if a := w.execute(m); !w.percent(w.dropped) {
		m.answer, m.epoch = &a, w.epoch
		w.mail = append(w.mail, m)
	}
	return true
}

// drop loses a message.
func (w *world) drop() bool {
	if len(w.mail) == 0 {
		return false
	}
	i := w.rng.IntN(len(w.mail))
	w.note("lost: call %d of %v", w.mail[i].call, w.mail[i].to)
	w.mail = slices.Delete(w.mail, i, i+1)
	return true
}

// giveUp ends a process's wait. What it waits for may still happen.
func (w *world) giveUp() bool {
	p := w.pick(func(p *process) bool { return p.running() && p.waiting })
	if p == nil {
		return false
	}
	w.take(p, Answer{Err: errTimeout}, w.epoch)
	return true
}

func (w *world) stepClock() bool {
	p := w.pick((*process).running)
	if p == nil {
		return false
	}
	p.offset = w.skew()
	w.note("the clock of %v is off by %d from here", p, p.offset)
	return true
}

func (w *world) stepStore() bool {
	w.offset = w.skew()
	w.pass(0)
	w.note("the clock of the store is off by %d from here", w.offset)
	return true
}

func (w *world) pause() bool {
	p := w.pick((*process).running)
	if p == nil {
		return false
	}
	p.paused = true
	w.note("%v is paused", p)
	if w.rng.IntN(2) == 0 {
		w.pass(w.expiry + w.rng.Int64N(w.window))
		w.count(longPauses)
	}
	return true
}

func (w *world) resume() bool {
	p := w.pick(func(p *process) bool { return p.paused && p.state != ended })
	if p == nil {
		return false
	}
	p.paused = false
	w.note("%v goes on", p)
	return true
}

func (w *world) kill() bool {
	p := w.pick(func(p *process) bool { return p.state != ended })
	if p == nil {
		return false
	}
	p.state, p.waiting = ended, false
	w.note("%v is killed", p)
	w.count(kills)
	return true
}

func (w *world) leaveOne() bool {
	p := w.pick(func(p *process) bool { return p.state == up && !p.paused })
	if p == nil {
		return false
	}
	w.leave(p)
	return true
}

// restart replaces a process that has ended.
func (w *world) restart() bool {
	for i, p := range w.slots {
		if p.state == ended {
			w.slots[i] = w.start(p.exact)
			return true
		}
	}
	return false
}

// outage has the store go away, or refuse to write, or come back.
func (w *world) outage() bool {
	back := w.unavailable || w.frozen
	w.frozen = !back && w.rng.IntN(2) == 0
	w.unavailable = !back && !w.frozen
	w.note("the store is unavailable: %v, frozen: %v", w.unavailable, w.frozen)
	likely := 40 // to come back
	if back {
		likely = -likely
	} else {
		w.count(outages)
	}
	w.weights[outage] += likely
	w.total += likely
	return true
}
