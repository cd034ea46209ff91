package uidhttp

import (
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// state is how a generator does, in one word.
type state string

const (
	fine    state = "ok"
	warning state = "warning" // ids are made, and somebody should look
	failing state = "failing" // no ids are made
)

// nearly is the part of the bound from which borrowed time is worth a warning.
const nearly = 0.8

// bound returns how far ahead of the clock ids may be stamped, if that is bounded.
func bound(s uid.Stats) (time.Duration, bool) { return s.MaxBorrow, s.Capacity > 0 && s.MaxBorrow >= 0 }

// judge returns the worst of what there is to say about a generator, and all of
// it.
func judge(layout bits.Layout, s uid.Stats, now time.Time) (state, []string) {
	worst, notes := fine, []string{}
	say := func(s state, format string, args ...any) {
		if worst != failing {
			worst = s
		}
		notes = append(notes, fmt.Sprintf(format, args...))
	}

	if s.Closed {
		say(failing, "The generator is closed.")
	}
	switch left := s.LayoutEnd.Sub(now); {
	case left <= 0:
		say(failing, "The layout has run out of time: no further id can be made with it.")
	case s.LayoutEndsSoon:
		say(warning, "The layout runs out of time in %s, on %s.", span(left), date(s.LayoutEnd))
	}

	if s.LeaseError != nil {
		if left := s.ReservedUntil.Sub(now); s.ReservedUntil.IsZero() || left <= 0 {
			say(failing, "No time is reserved under a worker number: %v", s.LeaseError)
		} else {
			say(warning, "The lease is not being renewed. Ids go on for %s: %v", span(left), s.LeaseError)
		}
	}

	limit, bounded := bound(s)
	// A bound that a full ring reaches is meant to be reached.
	roomy := bounded && float64(limit) > float64(s.Capacity>>layout.SequenceBits)*float64(layout.Unit)
	empty := s.Remaining == 0
	switch {
	case s.LastError == nil:
		if roomy && float64(s.Borrowed) >= nearly*float64(limit) {
			say(warning, "Borrowed time nears its bound, %s.", span(limit))
		}
	case errors.Is(s.LastError, uid.ErrBorrowLimit):
		switch {
		case limit < layout.Unit && empty:
			say(warning, "No time may be borrowed, and no id of the present tick is left: ids are made at the pace of the clock.")
		case roomy || empty:
			say(warning, "Borrowed time is at its bound, %s: ids are made at the pace of the clock.", span(limit))
		}
	case errors.Is(s.LastError, uid.ErrReservation):
		if empty && s.LeaseError == nil { // else it is said already
			say(warning, "No id is ready: more time is being reserved.")
		}
	case empty:
		say(failing, "No id is ready: %v", s.LastError)
	default:
		say(warning, "The ring could not be filled: %v", s.LastError)
	}
	return worst, notes
}
