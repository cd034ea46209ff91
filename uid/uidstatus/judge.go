package uidstatus

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// state is the health of a generator in one word.
type state string

const (
	fine    state = "ok"
	warning state = "warning" // ids are made, and somebody should look
	failing state = "failing" // no ids are made
)

// Words returns the state as the page shows it.
func (s state) Words() string {
	return map[state]string{fine: "OK", warning: "Needs attention", failing: "Makes no ids"}[s]
}

// rank is greater for a worse state.
func (s state) rank() int { return slices.Index([]state{fine, warning, failing}, s) }

// nearly is the share of MaxBorrow from which borrowed time is worth a warning.
const nearly = 0.8

// judge returns the worst state that applies, and the reasons as sentences.
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
		say(failing, "The layout has run out of time. No further id can be made.")
	case s.LayoutEndsSoon:
		say(warning, "The layout runs out of time in %s, on %s.", duration(left), date(s.LayoutEnd))
	}

	if s.LeaseError != nil {
		switch left := s.ReservedUntil.Sub(now); {
		case s.ReservedUntil.IsZero() || left <= 0:
			say(failing, "No time is reserved under a worker number: %v", s.LeaseError)
		case s.Capacity > 0 && s.Remaining == 0 && errors.Is(s.LastError, uid.ErrReservation):
			say(failing, "The time reserved under the worker number is used up, up to %s ahead of the clock: %v", duration(left), s.LeaseError)
		default:
			say(warning, "The lease of the worker number cannot be renewed. Ids end in %s at the latest: %v", duration(left), s.LeaseError)
		}
	}

	// A full ring alone reaches a small MaxBorrow, which is no reason for a warning.
	roomy := s.MaxBorrow > ringTime(layout, s)
	empty := s.Remaining == 0
	switch {
	case s.LastError == nil:
		if roomy && float64(s.Borrowed) >= nearly*float64(s.MaxBorrow) {
			say(warning, "Ids are stamped %s ahead of the clock. The limit is %s.", duration(s.Borrowed), duration(s.MaxBorrow))
		}
	case errors.Is(s.LastError, uid.ErrBorrowLimit):
		switch {
		case s.MaxBorrow < layout.Unit && empty:
			say(warning, "The ids of this tick are used up. New ids come with the next tick of the clock.")
		case roomy || empty:
			say(warning, "Ids are stamped %s ahead of the clock, which is the limit. New ids come at the pace of the clock.", duration(s.MaxBorrow))
		}
	case errors.Is(s.LastError, uid.ErrReservation):
		if empty && s.LeaseError == nil { // with a LeaseError, a note above says why
			say(warning, "No id is ready. More time is being reserved.")
		}
	case empty:
		say(failing, "No id is ready: %v", s.LastError)
	default:
		say(warning, "The ring could not be filled: %v", s.LastError)
	}
	return worst, notes
}
