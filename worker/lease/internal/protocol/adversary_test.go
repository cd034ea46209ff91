package protocol

import "slices"

// events are what the adversary does. How often one happens is its weight, and is drawn
// for each run unless it is steady. do returns whether it happened.
var events = []struct {
	weight int
	steady bool
	do     func(w *world) bool
}{
	{100, true, func(w *world) bool { return w.stampSome(1 + w.rng.Int64N(4)) }},
	{15, false, func(w *world) bool { return w.stampSome(1 + w.rng.Int64N(100)) }},
	{50, true, one((*process).free, (*world).ask)},
	{50, true, one((*process).free, (*world).exchange)},
	{25, false, one((*process).free, func(w *world, p *process) { w.finish(p) })},
	{120, true, (*world).deliver},
	{8, false, (*world).drop},
	{15, true, (*world).giveUp},
	{40, true, func(w *world) bool { return w.pass(w.rng.Int64N(w.window/2 + 2)) }},
	{3, false, func(w *world) bool { return w.pass(w.expiry + w.rng.Int64N(2*w.window)) }},
	{6, false, one((*process).running, (*world).stepClock)},
	{2, false, (*world).stepStore},
	{4, false, one((*process).running, (*world).pause)},
	{12, true, one((*process).sleeps, (*world).resume)},
	{3, false, one((*process).exists, (*world).kill)},
	{4, false, one((*process).stamps, (*world).leave)},
	{40, true, (*world).restart},
	{2, false, (*world).outage},
	{40, true, (*world).comeBack},
	{6, true, (*world).beyond},
}

// one is an event that happens to one of the processes for which ok.
func one(ok func(p *process) bool, do func(w *world, p *process)) func(w *world) bool {
	return func(w *world) bool {
		p := w.pick(ok)
		if p != nil {
			do(w, p)
		}
		return p != nil
	}
}

// weigh draws how often each event happens in this run.
func (w *world) weigh() {
	for _, e := range events {
		n := e.weight
		if !e.steady {
			n *= []int{0, 1, 1, 4}[w.rng.IntN(4)]
		}
		w.weights = append(w.weights, n)
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
	p := w.pick(func(p *process) bool { return p.stamps() || w.seams.zombie })
	if p != nil && w.stamp(p, n) > w.window/w.tick/2 {
		w.count(borrowings)
	}
	return p != nil
}

// ask sends one request, which is then on its way.
func (w *world) ask(p *process) { w.mail = append(w.mail, w.send(p)) }

// exchange sends a request that is answered at once.
func (w *world) exchange(p *process) { w.take(p, w.execute(w.send(p)), w.epoch) }

// finish has p end a round, in which nothing comes between.
func (w *world) finish(p *process) (done bool, err error) {
	for range 20 {
		if done, err = w.take(p, w.execute(w.send(p)), w.epoch); done || err != nil {
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
	if p != nil {
		w.take(p, Answer{Err: errTimeout}, w.epoch)
	}
	return p != nil
}

func (w *world) stepClock(p *process) {
	p.offset = w.skew()
	w.note("the clock of %v is off by %d from here", p, p.offset)
}

func (w *world) stepStore() bool {
	w.offset = w.skew()
	w.note("the clock of the store is off by %d from here", w.offset)
	return w.pass(0)
}

func (w *world) pause(p *process) {
	p.paused = true
	w.note("%v is paused", p)
	if w.rng.IntN(2) == 0 {
		w.pass(w.expiry + w.rng.Int64N(w.window))
		w.count(longPauses)
	}
}

func (w *world) resume(p *process) {
	p.paused = false
	w.note("%v goes on", p)
}

func (w *world) kill(p *process) {
	p.state, p.waiting = ended, false
	w.note("%v is killed", p)
	w.count(kills)
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

// outage has the store go away, or refuse to write.
func (w *world) outage() bool {
	if w.unavailable || w.frozen {
		return false
	}
	w.frozen = w.rng.IntN(2) == 0
	w.unavailable = !w.frozen
	w.note("the store is unavailable: %v, frozen: %v", w.unavailable, w.frozen)
	w.count(outages)
	return true
}

// comeBack ends an outage.
func (w *world) comeBack() bool {
	if !w.unavailable && !w.frozen {
		return false
	}
	w.unavailable, w.frozen = false, false
	w.note("the store is back")
	return true
}
