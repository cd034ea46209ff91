package protocol

import "slices"

// beyond has something happen that is outside the promise.
func (w *world) beyond() bool {
	switch w.mode {
	case clones:
		return w.clone()
	case restores:
		if len(w.backups) == 0 || w.rng.IntN(2) == 0 {
			w.backups = append(w.backups, w.store.backup())
			w.note("backup %d", len(w.backups)-1)
			return true
		}
		if w.epoch < 3 && w.rng.IntN(2) == 0 {
			w.restore()
			return true
		}
	case deletions:
		return w.delete()
	}
	return false
}

// clone makes a second process of one that goes on, as restoring a virtual machine
// from a snapshot does. The second's request, if it waits for one, breaks off.
//
// Twins share what was reserved when they parted. If a write was in doubt or
// under way then, both find that it was theirs, and share what it reserved.
func (w *world) clone() bool {
	p := w.pick(func(p *process) bool { return p.state == up })
	if p == nil || w.started > 60 || len(w.slots) >= 8 {
		return false
	}
	w.started++
	twin := *p
	q := &twin
	q.id, q.paused = w.started, false
	if !w.seams.twin {
		q.name = q.id
	}
	q.reserved = map[int64]int64{}
	for n, until := range p.reserved {
		q.reserved[n] = until
	}
	q.holder.config.Token = q.token(w)
	w.note("%v is cloned: %v", p, q)
	w.parted(p, q)
	w.slots = append(w.slots, q)
	if q.waiting {
		w.take(q, Answer{Err: errReset}, w.epoch)
	}
	return true
}

// restore puts the store back to what it was.
func (w *world) restore() {
	head := w.store.head
	i := w.rng.IntN(len(w.backups))
	w.store = w.backups[i].backup()
	if w.rng.IntN(2) == 0 {
		w.store.head = head // as a sequence that was not restored
	}
	w.pass(0)
	w.epoch++
	w.lax = true
	w.count(storeRestores)
	w.note("the store is restored from backup %d: %v", i, w.store.rows)
	for _, p := range w.slots {
		g, held := p.holder.Grant()
		if p.state != up || !held {
			continue
		}
		if r, exists := w.store.rows[g.Number]; !exists || !p.expects(r.token) {
			p.owes = ErrLost
			w.note("%v must notice", p)
		}
	}
}

// expects is whether the row of p may have this token, as far as p knows.
func (p *process) expects(token string) bool {
	return token == p.holder.token || p.waiting && token == p.request.Token || p.holder.doubted(token)
}

func (h *Holder) doubted(token string) bool {
	return slices.ContainsFunc(h.doubts, func(d doubt) bool { return d.token == token })
}

// delete deletes the row of a number. It is not given again as new, not even to
// somebody who was told so before.
func (w *world) delete() bool {
	p := w.pick(func(p *process) bool { return p.state == up && p.holder.held })
	if p == nil {
		return false
	}
	number := p.holder.number
	row, exists := w.store.rows[number]
	if !exists {
		return false
	}
	delete(w.store.rows, number)
	w.epoch++
	w.count(rowsDeleted)
	w.note("the row of %d is deleted", number)
	for _, q := range w.slots {
		if g, held := q.holder.Grant(); held && q.state == up && g.Number == number {
			q.owes = ErrLost
			if q.expects(row.token) {
				q.owes = ErrRewound
			}
		}
	}
	return true
}
