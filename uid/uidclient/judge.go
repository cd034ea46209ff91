package uidclient

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uidring/uidring/ringbuffer"
)

// maxKept is how many instances a client remembers, and how many runs.
const maxKept = 1000

type judge struct {
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
func (j *judge) accept(s *server, a *answer) error {
	at, known := j.instances[a.Instance]
	refuse := func(format string, args ...any) error {
		at.refused = true
		j.instances[a.Instance] = at
		return fmt.Errorf("uidclient: instance %.32q at %s answered with %s: %w", a.Instance, s.url, fmt.Sprintf(format, args...), ErrRewound)
	}
	id, repeats := j.repeated(a.runs)
	switch {
	case at.refused:
		return fmt.Errorf("uidclient: instance %.32q at %s: %w before", a.Instance, s.url, ErrRewound)
	case a.Number <= at.number:
		return refuse("number %d after %d", a.Number, at.number)
	case a.first() <= at.last:
		return refuse("id %d after %d", a.first(), at.last)
	case repeats:
		return refuse("id %d, as another instance did; do they share a store?", id)
	}
	if !known && len(j.instances) >= maxKept {
		for instance := range j.instances { // any
			delete(j.instances, instance)
			break
		}
	}
	j.instances[a.Instance] = standing{a.Number, a.last(), false}
	j.add(a.runs)
	return nil
}

func (j *judge) repeated(runs []ringbuffer.Run) (id int64, repeats bool) {
	for _, run := range runs {
		i, _ := slices.BinarySearchFunc(j.runs, run.First, func(r ringbuffer.Run, id int64) int { return cmp.Compare(r.Last(), id) })
		if i < len(j.runs) && j.runs[i].First <= run.Last() {
			return max(run.First, j.runs[i].First), true
		}
	}
	return 0, false
}

// add remembers runs. It forgets the lowest of too many.
func (j *judge) add(runs []ringbuffer.Run) {
	all := append(j.runs, runs...)
	slices.SortFunc(all, func(a, b ringbuffer.Run) int { return cmp.Compare(a.First, b.First) })
	j.runs = all[:1]
	for _, run := range all[1:] {
		if last := &j.runs[len(j.runs)-1]; last.Last()+1 == run.First {
			last.N += run.N
		} else {
			j.runs = append(j.runs, run)
		}
	}
	j.runs = slices.Delete(j.runs, 0, max(0, len(j.runs)-maxKept))
}
