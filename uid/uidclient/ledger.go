package uidclient

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// maxKept is how many instances a client remembers, and how many runs.
const maxKept = 1000

// ledger has what instances have answered, and refuses an answer that repeats ids.
type ledger struct {
	instances map[string]standing
	runs      []ringbuffer.Run // of all answers, ascending, those that adjoin as one
}

type standing struct {
	number  int64 // of the last answer
	last    int64 // last id of that answer
	refused bool  // the instance repeats ids, or has gone back, so other clients may have its ids
}

// accept returns an error for an answer that does not lie above the instance's last, or
// that has an id of an earlier answer.
func (l *ledger) accept(s *server, a *answer) error {
	at, known := l.instances[a.Instance]
	refuse := func(format string, args ...any) error {
		at.refused = true
		l.instances[a.Instance] = at
		return fmt.Errorf("uidclient: instance %.32q at %s answered with %s: %w", a.Instance, s.url, fmt.Sprintf(format, args...), uid.ErrRewound)
	}
	id, repeats := l.repeated(a.runs)
	switch {
	case at.refused:
		return fmt.Errorf("uidclient: earlier, instance %.32q at %s: %w", a.Instance, s.url, uid.ErrRewound)
	case a.Number <= at.number:
		return refuse("number %d after %d", a.Number, at.number)
	case a.first() <= at.last:
		return refuse("id %d after %d", a.first(), at.last)
	case repeats:
		return refuse("id %d, as another instance did; do they share a store?", id)
	}
	if !known && len(l.instances) >= maxKept {
		for instance := range l.instances { // any
			delete(l.instances, instance)
			break
		}
	}
	l.instances[a.Instance] = standing{a.Number, a.last(), false}
	l.add(a.runs)
	return nil
}

func (l *ledger) repeated(runs []ringbuffer.Run) (id int64, repeats bool) {
	for _, run := range runs {
		i, _ := slices.BinarySearchFunc(l.runs, run.First, func(r ringbuffer.Run, id int64) int { return cmp.Compare(r.Last(), id) })
		if i < len(l.runs) && l.runs[i].First <= run.Last() {
			return max(run.First, l.runs[i].First), true
		}
	}
	return 0, false
}

// add remembers runs. It forgets the lowest of too many.
func (l *ledger) add(runs []ringbuffer.Run) {
	l.runs = append(l.runs, runs...)
	all := l.runs
	slices.SortFunc(all, func(a, b ringbuffer.Run) int { return cmp.Compare(a.First, b.First) })
	l.runs = all[:1]
	for _, run := range all[1:] {
		if last := &l.runs[len(l.runs)-1]; last.Last()+1 == run.First {
			last.N += run.N
		} else {
			l.runs = append(l.runs, run)
		}
	}
	l.runs = slices.Delete(l.runs, 0, max(0, len(l.runs)-maxKept))
}
