package uidstatus

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

type state string

const (
	fine    state = "ok"
	warning state = "warning" // ids are made, and somebody should look
	failing state = "failing" // no ids are made
)

// Words returns the state as the page shows it.
func (s state) Words() string {
	return map[state]string{fine: "OK", warning: "Needs attention", failing: "Not generating ids"}[s]
}

// rank is greater for a worse state.
func (s state) rank() int { return slices.Index([]state{fine, warning, failing}, s) }

// nearly is the share of MaxBorrow from which borrowed time is worth a warning.
const nearly = 0.8

// stateOf returns the worst state that applies, and the reasons as sentences.
func stateOf(s uid.Stats, now time.Time) (state, []string) {
	v := verdict{fine, []string{}}
	if s.Closed {
		v.say(failing, "The generator is closed.")
	}
	if s.Clock != nil {
		v.clock(s, now)
	}
	if s.Ring != nil {
		v.ring(s)
	}
	if s.Loads != nil && !s.Closed {
		v.loads(s)
	}
	if s.Ring == nil && s.Loads == nil && s.LastError != nil && v.worst != failing {
		v.say(failing, "Cannot generate ids now: %v", s.LastError)
	}
	return v.worst, v.notes
}

type verdict struct {
	worst state
	notes []string
}

func (v *verdict) say(s state, format string, args ...any) {
	if v.worst != failing {
		v.worst = s
	}
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

func (v *verdict) clock(s uid.Stats, now time.Time) {
	c := s.Clock
	switch left := c.LayoutEnd.Sub(now); {
	case left <= 0:
		v.say(failing, "The layout has run out of time. It cannot generate another id.")
	case c.LayoutEndsSoon:
		v.say(warning, "The layout runs out of time in %s, on %s.", duration(left), date(c.LayoutEnd))
	}
	if c.LeaseError == nil {
		return
	}
	switch left := c.ReservedUntil.Sub(now); {
	case c.ReservedUntil.IsZero() || left <= 0:
		v.say(failing, "No time is reserved under a worker number: %v", c.LeaseError)
	case s.Ring != nil && s.Remaining == 0 && errors.Is(s.LastError, uid.ErrReservation):
		v.say(failing, "The time reserved under the worker number is used up, up to %s ahead of the clock: %v", duration(left), c.LeaseError)
	default:
		v.say(warning, "The lease of the worker number cannot be renewed. Ids run out in %s at the latest: %v", duration(left), c.LeaseError)
	}
}

// ring notes how the ring is filled. A full ring alone reaches a small MaxBorrow, which is
// no reason for a warning.
func (v *verdict) ring(s uid.Stats) {
	r, empty := s.Ring, s.Remaining == 0
	roomy := r.MaxBorrow > figures.Span(&s)
	switch {
	case s.LastError == nil:
		if roomy && float64(r.Borrowed) >= nearly*float64(r.MaxBorrow) {
			v.say(warning, "Ids are stamped %s ahead of the clock. The limit is %s.", duration(r.Borrowed), duration(r.MaxBorrow))
		}
	case errors.Is(s.LastError, uid.ErrBorrowLimit):
		switch {
		case empty && s.Clock != nil && r.MaxBorrow < s.Clock.Layout.Unit:
			v.say(warning, "The ids of this tick are used up. New ids come with the next tick of the clock.")
		case roomy || empty:
			v.say(warning, "Ids are stamped %s ahead of the clock, which is the limit. New ids come at the pace of the clock.", duration(r.MaxBorrow))
		}
	case errors.Is(s.LastError, uid.ErrReservation):
		if empty && s.Clock != nil && s.Clock.LeaseError == nil { // with a LeaseError, a note above says why
			v.say(warning, "No id is ready. More time is being reserved.")
		}
	case empty:
		v.say(failing, "No id is ready: %v", s.LastError)
	default:
		v.say(warning, "The ring could not be filled: %v", s.LastError)
	}
}

func (v *verdict) loads(s uid.Stats) {
	switch {
	case s.LastError == nil:
	case s.Remaining == 0:
		v.say(failing, "All loaded ids are used, and no further ones can be loaded: %v", s.LastError)
	case errors.Is(s.LastError, segment.ErrUsedUp):
		v.say(warning, "The counter is used up. Ids run out when the loaded ones are used.")
	default:
		v.say(warning, "No further ids can be loaded. Ids run out when the loaded ones are used: %v", s.LastError)
	}
}
