//go:build linux

package torture

import (
	"context"
	"slices"
	"sync"
	"time"
)

// enough is how far below all processes the counter is set, so that each refuses its
// ranges, however often they reserve: see segment.ErrRewound.
const enough = 10 * mostStep

// restore restores the counter from a copy, while all processes hold higher ids. Each
// process refuses the counter's ranges. Then, as package segment asks for, the processes
// end, the counter is raised above the greatest id in use, and others start.
func (n *nemesis) restore() {
	n.database.Lock()
	defer n.database.Unlock()
	drawing := n.seats[stamps:]
	for _, s := range drawing {
		for !n.mine(s, anybody) {
			if sleep(n.ctx, 20*time.Millisecond) != nil {
				return
			}
		}
		defer n.give(s)
	}
	all := func(so func(p *process) bool) bool {
		for slices.ContainsFunc(drawing, func(s *seat) bool { return !so(s.now) }) {
			if sleep(n.ctx, 20*time.Millisecond) != nil {
				return false
			}
		}
		return true
	}
	if !all(func(p *process) bool { return p.reached.Load() >= n.copied+enough }) {
		return
	}
	for _, s := range drawing {
		s.now.refuses.Store(true)
	}
	if err := n.backend.with(n.ctx, func(a *access) error { return a.rewind(n.ctx, n.copied) }); err != nil {
		n.fail(err)
		return
	}
	if !all(func(p *process) bool { return p.rewound.Load() }) {
		return
	}
	var ending sync.WaitGroup
	for _, s := range drawing {
		ending.Go(func() { n.leave(s.now) })
	}
	ending.Wait()
	if err := n.backend.with(n.ctx, n.recover); err != nil {
		n.fail(err)
		return
	}
	n.note(func(t *tally) { t.restores++ })
	for _, s := range drawing {
		n.launch(s)
	}
}

// recover raises the counter above the greatest id that was ever drawn. All processes that
// drew ids have ended.
func (n *nemesis) recover(a *access) error {
	n.mu.Lock()
	processes := slices.Clone(n.processes)
	n.mu.Unlock()
	greatest := int64(0)
	for _, p := range processes {
		if p.Kind == kindCounter {
			for _, s := range slices.Concat(p.spans[:]...) {
				greatest = max(greatest, s.first+s.n-1)
			}
		}
	}
	ctx, cancel := context.WithTimeout(n.ctx, openFor)
	defer cancel()
	next, err := a.counters.Raise(ctx, tag, greatest+1)
	n.copied = next
	return err
}
