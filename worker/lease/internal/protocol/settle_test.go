package protocol

import (
	"errors"
	"slices"
)

// rounds is how many each process needs, at the most, until it holds a number
// and may stamp, once nobody is against it: one in which a doubt stays open, one
// to find its number lost, one to take another, and one to reserve beyond a
// floor in the future.
const rounds = 5

// settle stops the adversary, and checks that all goes well soon.
func (w *world) settle() {
	w.note("the adversary rests")
	w.unavailable, w.frozen = false, false
	w.unclear, w.dropped, w.doubled = 0, 0, 0
	for _, p := range w.slots {
		p.paused = false
	}
	for len(w.mail) > 0 && w.broken == nil {
		w.deliver()
	}
	for w.broken == nil && w.giveUp() {
	}
	// All that nobody holds any more is free from here on, and what is held stays so.
	w.store.expiry = max(w.expiry, 10_000)
	for _, r := range w.store.rows {
		if r.written != released {
			w.pass(max(0, r.written+w.store.expiry-w.store.now))
		}
	}
	for w.restart() {
	}
	last := map[*process]error{}
	stamped := map[*process]bool{}
	for range rounds {
		for _, i := range w.rng.Perm(len(w.slots)) {
			p := w.slots[i]
			if p.state == ended || w.broken != nil {
				continue
			}
			_, last[p] = w.finish(p)
			stamped[p] = w.stamp(p, 1) == 1
		}
		w.pass(1)
	}
	for _, p := range w.slots {
		switch {
		case w.broken != nil:
			return
		case p.owes != nil:
			w.fail(silent, "%v never said %v", p, p.owes)
		case p.state == leaving:
			w.fail(endless, "%v is still leaving: %v", p, last[p])
		case stamped[p]:
			w.count(settled)
		case p.state == up && w.epoch > 0 && errors.Is(last[p], ErrExhausted):
			// A number without a row may be one that is not given again.
		case p.state == up && w.crowded(p, last[p]):
			w.count(crowded)
		case p.state == up:
			w.fail(endless, "%v has nothing to stamp after %d rounds: %v, %s", p, rounds, last[p], p.owns())
		}
	}
}

// crowded is whether each number that p might hold is held by someone else that
// goes on. Nobody is given a number below one that was asked for by name.
func (w *world) crowded(p *process, err error) bool {
	held := func(number int64) bool {
		return slices.ContainsFunc(w.slots, func(q *process) bool {
			g, held := q.holder.Grant()
			return q != p && held && g.Number == number && w.store.rows[number].token == q.holder.token
		})
	}
	if p.exact >= 0 {
		return errors.Is(err, ErrHeld) && held(p.exact)
	}
	for number := range w.store.rows {
		if !held(number) {
			return false
		}
	}
	return errors.Is(err, ErrExhausted) && w.store.look().Next > w.limit
}
