package leaserow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

func TestNumber(t *testing.T) {
	if Digits(9) >= Digits(10) || len(Digits(1<<63-1)) != len(Digits(0)) {
		t.Errorf("%s, %s, %s; want them to sort", Digits(9), Digits(10), Digits(1<<63-1))
	}
	for text, good := range map[string]bool{Digits(1<<63 - 1): true, "7": true, "-1": false, "": false, "x": false} {
		if n, err := Number(text); (err == nil) != good || n < 0 {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
}

// A sample that shows no free number is followed by another. A number that is free only
// later is none.
func TestSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, within := time.Now().UnixMilli(), leasestore.Range{To: 1 << 20}
		for _, tt := range []struct {
			given int64
			until int64 // of the free number 5; 0 is none
			reads int
		}{
			{64, now + 1001, 1}, {64, 0, 1}, {65, 0, 2}, {65, now, 1}, {65, now + 1000, 1}, {65, now + 1001, 2},
		} {
			reads := 0
			view, err := Sample(now, within, map[int64]int64{0: tt.given}, func(numbers []int64) (int64, []leasestore.Row, error) {
				if reads++; len(numbers) != 64 {
					t.Errorf("%d numbers are read, want 64", len(numbers))
				}
				if tt.until == 0 {
					return now, []leasestore.Row{{Number: 6, State: leasestore.StateHeld}}, nil
				}
				return now, []leasestore.Row{{Number: 5, Until: tt.until, State: leasestore.StateFree}}, nil
			})
			if err != nil || reads != tt.reads || view.Held != 0 || view.Next != tt.given || (len(view.Free) > 0) != (tt.until > 0) {
				t.Errorf("%+v: %+v after %d reads, %v", tt, view, reads, err)
			}
		}
	})
}
