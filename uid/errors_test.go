package uid_test

import (
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
)

func TestReservationErrorSays(t *testing.T) {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	unavailable := errors.New("the database is unavailable")
	for _, tt := range []struct {
		err  uid.ReservationError
		want string
	}{
		{uid.ReservationError{Worker: 3}, "no worker number is held; the last was 3"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon.Add(time.Minute)}, "worker 3 has it from 2026-11-20T12:00:00Z until 2026-11-20T12:01:00Z"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon}, "worker 3 has none before 2026-11-20T12:00:00Z"},
		{uid.ReservationError{Worker: 3, From: noon, Until: noon, Err: unavailable}, "worker 3 has none before 2026-11-20T12:00:00Z: the database is unavailable"},
	} {
		if got, want := tt.err.Error(), uid.ErrReservation.Error()+": "+tt.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
