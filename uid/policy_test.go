package uid_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

func TestPolicies(t *testing.T) {
	// One tick may be made, so the ring runs empty at once, and then the bound
	// is reached.
	config := uid.CachedConfig{Layout: small, Now: clockAt(start).now, MaxBorrow: 1}
	next3 := func(t *testing.T, policy func(uid.Refusal) error) error {
		config := config
		config.RejectedTake = policy
		gen := newCached(t, config)
		mustNext(t, gen)
		mustNext(t, gen)
		_, err := gen.Next()
		return err
	}
	t.Run("help", func(t *testing.T) {
		if err := next3(t, uid.Help); !errors.Is(err, uid.ErrBorrowLimit) {
			t.Errorf("error %v, want ErrBorrowLimit", err)
		}
	})
	t.Run("reject", func(t *testing.T) {
		if err := next3(t, uid.Reject); err != uid.ErrRingEmpty {
			t.Errorf("error %v, want ErrRingEmpty", err)
		}
	})
	t.Run("own error", func(t *testing.T) {
		mine := errors.New("mine")
		var got []uid.Refusal
		err := next3(t, func(r uid.Refusal) error {
			got = append(got, r)
			if len(got) == 2 {
				return fmt.Errorf("%w: %w", mine, r.Err)
			}
			return nil
		})
		if !errors.Is(err, mine) || !errors.Is(err, uid.ErrBorrowLimit) {
			t.Errorf("error %v, want that of the policy", err)
		}
		if len(got) != 2 || got[0].Err != uid.ErrRingEmpty || got[0].Attempt != 1 || got[1].Attempt != 1 {
			t.Errorf("the policy was told %v", got)
		}
	})
	t.Run("panic", func(t *testing.T) {
		err := next3(t, func(uid.Refusal) error { panic("mine") })
		var panicked *uid.PanicError
		if !errors.As(err, &panicked) || panicked.Value != "mine" || panicked.In != "RejectedTake" || err.Error() != "uid: panic in RejectedTake: mine" {
			t.Errorf("error %v, want a PanicError", err)
		}
	})
}

// In the original a handler that returns cannot work: the stale slot is looked
// at again, and the take throws anyway.
func TestPolicyThatReturns(t *testing.T) {
	asked := 0
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, MaxBorrow: -1, RejectedTake: func(uid.Refusal) error {
		asked++
		return nil
	}})
	last := uid.ID(-1)
	for range 10_000 {
		id := mustNext(t, gen)
		if id <= last {
			t.Fatalf("id %d follows %d", id, last)
		}
		last = id
	}
	if asked == 0 {
		t.Error("the policy was never asked: the ring of 4 ids never ran empty")
	}
}

func TestPolicyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen := newCached(t, uid.CachedConfig{Layout: bubble, MaxBorrow: time.Nanosecond, RejectedTake: uid.Wait})
		begun := time.Now()
		if n, err := gen.NextN(make([]uid.ID, 20)); n != 20 || err != nil || time.Since(begun) != 9*time.Second {
			t.Errorf("NextN() = %d, %v after %v, want 10 ticks in 9s", n, err, time.Since(begun))
		}
	})
}

// No policy is asked where no id can ever come.
func TestClosedWhateverThePolicy(t *testing.T) {
	var closed atomic.Bool
	gen := newCached(t, uid.CachedConfig{
		RejectedTake: func(uid.Refusal) error { t.Error("the policy was asked"); return nil },
		RejectedPut: func(_ uid.Run, err error) {
			if closed.Load() || err != ringbuffer.ErrClosed {
				t.Errorf("RejectedPut was told %v", err)
			}
		},
	})
	gen.Close()
	closed.Store(true)
	if _, err := gen.Next(); err != uid.ErrClosed {
		t.Errorf("Next() = %v, want ErrClosed", err)
	}
}
