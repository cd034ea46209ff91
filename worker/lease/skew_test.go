package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/lease/internal/protocol"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The bound is the same on either side of the store's clock, and allows for the time
// that the reading took.
func TestSkewBounds(t *testing.T) {
	store := time.UnixMilli(1_000_000_000)
	took := 100 * time.Millisecond
	for _, tt := range []struct {
		name   string
		before time.Time
		ahead  time.Duration // 0 is no error
	}{
		{"ahead, at the bound", store.Add(time.Minute), 0},
		{"ahead", store.Add(time.Minute + 1), time.Minute + 1},
		{"behind, at the bound", store.Add(-time.Minute - took), 0},
		{"behind", store.Add(-time.Minute - took - 1), -time.Minute - 1},
	} {
		skew := compareClocks(tt.before, tt.before.Add(took), store, time.Minute)
		if tt.ahead == 0 && skew != nil || tt.ahead != 0 && (skew == nil || skew.Ahead != tt.ahead) {
			t.Errorf("%s: %v, want %v", tt.name, skew, tt.ahead)
		}
	}
}

// What is used or free is never less than the instant.
func TestMillisRoundUp(t *testing.T) {
	for _, tt := range []struct {
		at   time.Time
		want int64
	}{
		{time.Time{}, 0},
		{time.Unix(-1, 0), 0},
		{time.UnixMilli(7), 7},
		{time.UnixMilli(7).Add(1), 8},
		{time.UnixMilli(8).Add(-1), 8},
		{time.Unix(protocol.MaxInstant, 0), protocol.MaxInstant},
	} {
		if got := millis(tt.at); got != tt.want {
			t.Errorf("millis(%v) = %d, want %d", tt.at, got, tt.want)
		}
	}
}

type named struct{ leasestore.Store }

func (named) String() string { return "memory" }

// Once a number is held, a wrong clock is logged when that begins and when it ends. A
// store without a clock shows steps of the clock all the same.
func TestSkewIsLoggedOnce(t *testing.T) {
	for name, hasClock := range map[string]bool{"of a store with a clock": true, "of a store without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logged.Text
				step := time.Duration(0)
				k := &keeper{
					leaser:  New(named{}, Config{Logger: log.Logger()}),
					request: Request{Clock: func() time.Time { return time.Now().Add(step) }},
				}
				read := func() {
					t.Helper()
					answer := protocol.Answer{}
					if hasClock {
						answer.Now = time.Now().UnixMilli()
					}
					if err := k.readClock(k.request.Clock(), &answer); err != nil || answer.Now == 0 {
						t.Errorf("%v ahead: %+v, %v", step, answer, err)
					}
				}
				read()
				k.started = true
				for _, step = range []time.Duration{0, time.Hour, time.Hour, -time.Hour, 0, time.Minute, -time.Minute} {
					time.Sleep(15 * time.Second)
					read()
				}
				k.journal.Flush(t.Context())
				ahead := map[bool]string{true: "ahead of the store's", false: "ahead of the time elapsed since startup"}[hasClock]
				if log.Count("") != 2 || log.Count("has gone wrong", ahead) != 1 || log.Count("is right again") != 1 {
					t.Errorf("log: %s; want %q in it", &log, ahead)
				}
			})
		})
	}
}

// A step shows in the wall time alone: the time of the start has no monotonic part, which time in a
// bubble lacks anyway.
func TestOriginIsWallTime(t *testing.T) {
	k := &keeper{leaser: New(named{}, Config{}), request: Request{Clock: time.Now}}
	if err := k.readClock(time.Now(), new(protocol.Answer)); err != nil || k.origin != k.origin.Round(0) {
		t.Errorf("%v, %v", k.origin, err)
	}
}
