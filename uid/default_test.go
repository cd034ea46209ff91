package uid_test

import (
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// A refusal changes nothing, so the next is the same. The clock may be before the epoch,
// also where a tick is long.
func TestDefaultRefusesAClockThatStepsBack(t *testing.T) {
	daily := bits.Layout{TimeBits: 20, WorkerBits: 8, SequenceBits: 8, Epoch: start, Unit: 24 * time.Hour}
	for _, test := range []struct {
		layout       bits.Layout
		issued       int
		back, amount time.Duration // of the step, and until the last id's tick or the epoch
	}{
		{small, 1, 3 * time.Second, 3 * time.Second},
		{small, 1, 1000 * time.Hour, 1000 * time.Hour},
		{small, 0, time.Hour, time.Hour - 5*time.Second},
		{daily, 0, 10 * time.Hour, 10 * time.Hour},
	} {
		clock := clockAt(start)
		gen := newDefault(t, uid.DefaultConfig{Layout: test.layout, Now: clock.now})
		last := uid.ID(0)
		for range test.issued {
			last = mustNext(t, gen)
		}
		clock.step(-test.back)
		for range 3 {
			_, err := gen.Next()
			var backward *uid.ClockBackwardError
			if !errors.Is(err, uid.ErrClockBackward) || !errors.As(err, &backward) ||
				backward.Amount != test.amount || backward.Max != uid.DefaultMaxBackward {
				t.Fatalf("Next() = %v after %v back, want ErrClockBackward by %v", err, test.back, test.amount)
			}
		}
		clock.step(test.back)
		if id := mustNext(t, gen); test.issued > 0 && id != last+1 {
			t.Errorf("id %d follows %d, want the next number", id, last)
		}
	}
}
