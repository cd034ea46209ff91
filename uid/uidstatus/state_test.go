package uidstatus

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid"
)

func TestState(t *testing.T) {
	const (
		atLimit   = "Ids are stamped 1h ahead of the clock, which is the limit. New ids come at the pace of the clock."
		noTime    = "No time is reserved under a worker number: gone"
		reserving = "No id is ready. More time is being reserved."
		usedUp    = "The ids of this tick are used up. New ids come with the next tick of the clock."
	)
	gone := errors.New("gone")
	borrow := func(limit time.Duration) error { return &uid.BorrowLimitError{Limit: limit} }
	for _, tt := range []struct {
		name  string
		set   func(*uid.Stats)
		state state
		notes []string
	}{
		{"calm", func(*uid.Stats) {}, fine, nil},
		{"closed", func(s *uid.Stats) { s.Closed = true }, failing, []string{"The generator is closed."}},
		{"closed, and more", func(s *uid.Stats) { s.Closed, s.LastError = true, gone }, failing,
			[]string{"The generator is closed.", "The ring could not be filled: gone"}},

		{"layout over", func(s *uid.Stats) { s.Clock.LayoutEnd, s.Clock.LayoutEndsSoon = noon, true }, failing,
			[]string{"The layout has run out of time. It cannot generate another id."}},
		{"layout ends", func(s *uid.Stats) { s.Clock.LayoutEnd, s.Clock.LayoutEndsSoon = noon.AddDate(0, 0, 40), true }, warning,
			[]string{"The layout runs out of time in 40 days, on 2026-04-10."}},

		{"leased", func(s *uid.Stats) { s.Clock.ReservedUntil = noon.Add(time.Minute) }, fine, nil},
		{"leased, time used up", func(s *uid.Stats) { s.Clock.ReservedUntil = noon }, fine, nil},
		{"not renewed", func(s *uid.Stats) { s.Clock.ReservedUntil, s.Clock.LeaseError = noon.Add(time.Minute), gone }, warning,
			[]string{"The lease of the worker number cannot be renewed. Ids run out in 1m at the latest: gone"}},
		{"not renewed, time used up", func(s *uid.Stats) { s.Clock.ReservedUntil, s.Clock.LeaseError = noon, gone }, failing, []string{noTime}},
		{"not renewed, time used up ahead of the clock", func(s *uid.Stats) {
			s.Clock.ReservedUntil, s.Clock.LeaseError, s.Remaining, s.LastError = noon.Add(8*time.Minute), gone, 0, &uid.ReservationError{Err: gone}
		}, failing, []string{"The time reserved under the worker number is used up, up to 8m ahead of the clock: gone"}},
		{"number lost", func(s *uid.Stats) { s.Clock.LeaseError = gone }, failing, []string{noTime}},
		{"number lost, said once", func(s *uid.Stats) {
			s.Clock.LeaseError, s.Remaining, s.LastError = gone, 0, &uid.ReservationError{Err: gone}
		}, failing, []string{noTime}},
		{"being reserved", func(s *uid.Stats) { s.LastError = &uid.ReservationError{} }, fine, nil},
		{"being reserved, empty", func(s *uid.Stats) { s.Remaining, s.LastError = 0, &uid.ReservationError{} }, warning, []string{reserving}},

		{"below the limit", func(s *uid.Stats) { s.Ring.Borrowed = 19*time.Hour + 11*time.Minute }, fine, nil},
		{"near the limit", func(s *uid.Stats) { s.Ring.Borrowed = 19*time.Hour + 12*time.Minute }, warning,
			[]string{"Ids are stamped 19h12m ahead of the clock. The limit is 24h."}},
		{"near a limit that a full ring reaches", func(s *uid.Stats) { s.Ring.Borrowed, s.Ring.MaxBorrow = 8*time.Second, 8*time.Second }, fine, nil},
		{"near a limit that a full ring does not reach", func(s *uid.Stats) { s.Ring.Borrowed, s.Ring.MaxBorrow = 8*time.Second, 9*time.Second }, warning,
			[]string{"Ids are stamped 8s ahead of the clock. The limit is 9s."}},
		{"no limit", func(s *uid.Stats) { s.Ring.Borrowed, s.Ring.MaxBorrow = 2000*time.Hour, -1 }, fine, nil},
		{"no ring", func(s *uid.Stats) { s.Ring = nil }, fine, nil},
		{"no ring, clock behind", func(s *uid.Stats) { s.Ring, s.LastError = nil, gone }, failing, []string{"Cannot generate ids now: gone"}},
		{"no ring, number lost", func(s *uid.Stats) {
			s.Ring, s.Clock.LeaseError, s.LastError = nil, gone, &uid.ReservationError{Err: gone}
		}, failing, []string{noTime}},
		{"no ring, earlier holder", func(s *uid.Stats) { s.Ring, s.LastError = nil, &uid.ReservationError{Worker: 3} }, failing,
			[]string{"Cannot generate ids now: uid: time is not reserved: no worker number is held; the last was 3"}},
		{"at the limit", func(s *uid.Stats) { s.Ring.MaxBorrow, s.LastError = time.Hour, borrow(time.Hour) }, warning, []string{atLimit}},
		{"at the limit, empty", func(s *uid.Stats) { s.Remaining, s.Ring.MaxBorrow, s.LastError = 0, time.Hour, borrow(time.Hour) }, warning, []string{atLimit}},
		{"at a limit that a full ring reaches", func(s *uid.Stats) { s.Ring.MaxBorrow, s.LastError = 5*time.Second, borrow(5*time.Second) }, fine, nil},
		{"at a limit that a full ring reaches, empty", func(s *uid.Stats) {
			s.Remaining, s.Ring.MaxBorrow, s.LastError = 0, time.Second, borrow(time.Second)
		}, warning, []string{"Ids are stamped 1s ahead of the clock, which is the limit. New ids come at the pace of the clock."}},
		{"nothing may be borrowed", func(s *uid.Stats) { s.Ring.MaxBorrow, s.LastError = 1, borrow(1) }, fine, nil},
		{"nothing may be borrowed, empty", func(s *uid.Stats) { s.Remaining, s.Ring.MaxBorrow, s.LastError = 0, 1, borrow(1) }, warning, []string{usedUp}},

		{"not filled", func(s *uid.Stats) { s.LastError = gone }, warning, []string{"The ring could not be filled: gone"}},
		{"not filled, empty", func(s *uid.Stats) { s.LastError, s.Remaining = gone, 0 }, failing, []string{"No id is ready: gone"}},

		{"no id loaded between two loads", func(s *uid.Stats) { *s = counters()["parcels"]; s.Remaining = 0 }, fine, nil},
		{"not loaded", func(s *uid.Stats) { *s = counters()["parcels"]; s.LastError = gone }, warning,
			[]string{"No further ids can be loaded. Ids run out when the loaded ones are used: gone"}},
		{"not loaded, none left", func(s *uid.Stats) { *s = counters()["parcels"]; s.LastError, s.Remaining = gone, 0 }, failing,
			[]string{"All loaded ids are used, and no further ones can be loaded: gone"}},
		{"used up", func(s *uid.Stats) { *s = counters()["used"] }, warning, []string{"The counter is used up. Ids run out when the loaded ones are used."}},
		{"closed with an error", func(s *uid.Stats) { *s = counters()["closed"]; s.LastError = gone }, failing, []string{"The generator is closed."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := statstest.Calm()
			tt.set(&s)
			if state, notes := stateOf(s, noon); state != tt.state || !slices.Equal(notes, tt.notes) {
				t.Errorf("%s %q\nwant %s %q", state, notes, tt.state, tt.notes)
			}
		})
	}
}
