package uidclient

import "fmt"

// maxInstances is how many instances a client remembers.
const maxInstances = 1000

// judge holds the last number and id of each instance that has answered.
type judge map[string]standing

type standing struct {
	number  int64 // of the last answer
	last    int64 // last id of that answer
	refused bool  // the instance has gone back, so other clients may have its ids
}

// accept returns an error for an answer that does not lie above the instance's last.
func (j judge) accept(s *server, a *answer) error {
	at, known := j[a.Instance]
	refuse := func(what string, is, before int64) error {
		at.refused = true
		j[a.Instance] = at
		return fmt.Errorf("uidclient: instance %.32q at %s answered with %s %d after %d: %w", a.Instance, s.url, what, is, before, ErrRewound)
	}
	switch {
	case at.refused:
		return fmt.Errorf("uidclient: instance %.32q at %s: %w before", a.Instance, s.url, ErrRewound)
	case a.Number <= at.number:
		return refuse("number", a.Number, at.number)
	case a.first() <= at.last:
		return refuse("id", a.first(), at.last)
	}
	if !known && len(j) >= maxInstances {
		for instance := range j { // any
			delete(j, instance)
			break
		}
	}
	j[a.Instance] = standing{a.Number, a.last(), false}
	return nil
}
