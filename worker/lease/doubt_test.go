package lease_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// A renewal is one write unless something is wrong. Then the same renewal notices it, and reserves by the store's clock as
// it is. Clocks that show what a renewal without a read allows for cost no request.
func TestRenewalInDoubt(t *testing.T) {
	const lost, wrong = "the number is lost", "the clock has gone wrong"
	for name, tt := range map[string]struct {
		store, own time.Duration // by which the store's clock, and the one that stamps ids, step
		does       func(t *testing.T, s *hooked)
		window     time.Duration
		requests   string
		log        string
	}{
		"nothing":                              {requests: "Swap"},
		"a process that was suspended":         {store: 5 * time.Minute, own: 5 * time.Minute, requests: "Read Swap"},
		"... for a day":                        {store: 24 * time.Hour, own: 24 * time.Hour, requests: "Read Swap"},
		"... for less than the bounds":         {store: 50 * time.Second, own: 50 * time.Second, requests: "Swap"},
		"... and its window is short":          {store: 50 * time.Second, own: 50 * time.Second, window: time.Minute, requests: "Swap Read Swap"},
		"... and its wall clock stood still":   {store: 5 * time.Minute, requests: "Swap Read Swap", log: wrong},
		"a clock that stepped ahead":           {own: 61 * time.Second, requests: "Read Swap", log: wrong},
		"a clock that stepped back":            {own: -time.Hour, requests: "Read Swap", log: wrong},
		"a clock that stepped a little":        {own: -59 * time.Second, requests: "Swap"},
		"a store whose clock steps ahead":      {store: 66 * time.Second, requests: "Swap Read Swap", log: wrong},
		"a store whose clock steps back":       {store: -61 * time.Second, requests: "Swap Read Swap", log: wrong},
		"... both a little, and together more": {store: -40 * time.Second, own: 30 * time.Second, requests: "Swap Read Swap", log: wrong},
		"a row that is deleted":                {does: func(_ *testing.T, s *hooked) { s.Delete(0) }, requests: "Swap Read Look SwapLayout Insert SwapLayout", log: lost},
		"a row that an operator frees":         {does: func(t *testing.T, s *hooked) { free(t, s, 0) }, requests: "Swap Read Look SwapLayout Insert SwapLayout", log: lost},
		"a row that is taken over": {does: func(t *testing.T, s *hooked) {
			free(t, s, 0)
			hold(t, s, lease.Config{Assigner: number{n: 0}})
		}, requests: "Swap Read Look SwapLayout Insert SwapLayout", log: lost},
		"an answer that is lost": {does: func(_ *testing.T, s *hooked) {
			s.answering(func(call, bool, error) (bool, error) { s.heal(); return false, errReset })
		}, requests: "Swap Read Swap"},
		"a statement that a driver sent twice": {does: func(_ *testing.T, s *hooked) {
			s.answering(func(call, bool, error) (bool, error) { s.heal(); return false, nil })
		}, requests: "Swap Read Swap"},
		"a connection that was closed": {does: func(_ *testing.T, s *hooked) {
			s.calling(func(context.Context, call) error { s.heal(); return errReset })
		}, requests: "Swap Read Swap"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, out := new(hooked), new(logged.Text)
			var own atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(own.Load())) }
			config := lease.Config{Window: tt.window, Logger: out.Logger()}
			h, err := holdertest.Try(t.Context(), t, lease.New(s, config), 9, clock)
			need.Must(t, err)
			time.Sleep(40 * time.Second) // between two renewals
			before := h.Last().Until
			if tt.does != nil {
				tt.does(t, s)
				synctest.Wait()
			}
			s.ahead.Store(tt.store.Milliseconds())
			own.Store(int64(tt.own))
			began := time.Now().Add(1)
			time.Sleep(10 * time.Second)
			var requests []string
			for _, c := range s.since(began) {
				requests = append(requests, c.op)
			}
			if got := strings.Join(requests, " "); got != tt.requests {
				t.Errorf("%s: requests %s, want %s", name, got, tt.requests)
			}
			window := tt.window
			if window == 0 {
				window = lease.DefaultWindow
			}
			least := time.Now().Add(-5 * time.Second).Add(max(tt.store, 0)).Add(window * 7 / 8)
			if g := h.Last(); !g.Held || g.Err != nil || g.Until.Before(least) || g.Until.Before(before) && tt.log != lost {
				t.Errorf("%s: granted %+v; want at least until %v, and no less than %v", name, g, least, before)
			}
			if n := out.Count(tt.log); tt.log != "" && n != 1 || tt.log == "" && n != 0 {
				t.Errorf("%s: log: %s", name, fmt.Sprint(out))
			}
		})
	}
}
