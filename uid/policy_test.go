package uid_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/uidring/uidring/uid"
)

// One tick may be made, so the ring runs empty at once, and then the bound is reached.
func TestPolicies(t *testing.T) {
	for name, test := range map[string]struct {
		policy uid.TakePolicy
		want   func(error) bool
	}{
		"help":   {uid.PolicyHelp, func(err error) bool { return errors.Is(err, uid.ErrBorrowLimit) }},
		"reject": {uid.PolicyReject, func(err error) bool { return errors.Is(err, uid.ErrNotReady) && errors.Is(err, uid.ErrBorrowLimit) }},
		"panic": {func(uid.Refusal) error { panic("mine") }, func(err error) bool {
			var panicked *uid.PanicError
			return errors.As(err, &panicked) && panicked.Value == "mine" && panicked.In == "RejectedTake" && err.Error() == "uid: panic in RejectedTake: mine"
		}},
	} {
		gen := newCached(t, uid.CachedConfig{Layout: small, Now: clockAt(start).now, MaxBorrow: uid.None, RejectedTake: test.policy})
		if n, err := calls["Next"](t.Context(), gen, make([]uid.ID, 3)); n != 2 || !test.want(err) {
			t.Errorf("%s: %d ids, then error %v", name, n, err)
		}
	}
}

// Each refusal of one call has its number, from 1 again when the call has got ids.
func TestAttempts(t *testing.T) {
	for _, call := range []string{"Next", "NextN"} {
		synctest.Test(t, func(t *testing.T) {
			enough := errors.New("enough")
			var told []string
			gen := newCached(t, uid.CachedConfig{Layout: bubble, Now: clockAt(start).now, MaxBorrow: uid.None, RejectedTake: func(r uid.Refusal) error {
				told = append(told, fmt.Sprint(errors.Is(r.Err, uid.ErrBorrowLimit), r.Attempt))
				if len(told) == 6 {
					return enough
				}
				return nil
			}})
			if n, err := calls[call](t.Context(), gen, make([]uid.ID, 3)); n != 2 || err != enough {
				t.Errorf("%s: %d ids, error %v, want 2 and that of the policy", call, n, err)
			}
			if s := gen.Stats(); s.Starved != 1 || s.RejectedTakes != 1 {
				t.Errorf("%s: Stats() = %+v, want one call that starved and failed, however often it tried", call, s)
			}
			if want := []string{"false 1", "true 1", "false 2", "true 2", "false 3", "true 3"}; !slices.Equal(told, want) {
				t.Errorf("%s: the policy was told %q, want %q", call, told, want)
			}
		})
	}
}
