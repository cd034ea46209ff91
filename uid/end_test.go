package uid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// At the end of the layout there is an error and never a negative id. A policy that fails
// does not hide it.
func TestCachedNeverPassesTheEnd(t *testing.T) {
	for _, test := range []struct {
		layout bits.Layout
		policy func(uid.Refusal) error
		ticks  int // before the end
	}{
		{bits.Layout{TimeBits: 8, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.Help, 20},
		{bits.Layout{TimeBits: 8, WorkerBits: 54, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.Help, 20},
		{bits.Layout{TimeBits: 8, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second}, uid.Reject, 8},
	} {
		clock := clockAt(test.layout.End().Add(-time.Duration(test.ticks) * time.Second))
		gen := newCached(t, uid.CachedConfig{Layout: test.layout, Now: clock.now, RejectedTake: test.policy, Logger: quiet})
		for range 2 * test.ticks {
			if id := mustNext(t, gen); id < 0 {
				t.Fatalf("id %d is negative", id)
			}
		}
		for range 10 {
			if id, err := gen.Next(); !errors.Is(err, uid.ErrTimeExhausted) {
				t.Fatalf("Next() = %d, %v past the end, want ErrTimeExhausted", id, err)
			}
			clock.step(time.Hour)
		}
		if id, err := gen.Wait(context.Background()); !errors.Is(err, uid.ErrTimeExhausted) {
			t.Errorf("Wait() = %d, %v past the end, want ErrTimeExhausted", id, err)
		}
		if err := gen.Stats().LastError; !errors.Is(err, uid.ErrTimeExhausted) {
			t.Errorf("LastError is %v, want ErrTimeExhausted", err)
		}
	}
}

// One wrong reading of the clock, that no id was stamped with, changes nothing.
func TestGlitchBeyondTheEnd(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now, Logger: quiet})
	clock.step(100 * 365 * 24 * time.Hour)
	var err error
	for err == nil {
		_, err = gen.Next()
	}
	if !errors.Is(err, uid.ErrTimeExhausted) {
		t.Errorf("Next() = %v while the clock is past the end, want ErrTimeExhausted", err)
	}
	clock.step(-100 * 365 * 24 * time.Hour)
	if got := tick(t, gen); got > 100 {
		t.Errorf("tick is %d after the clock came back, want one of the present", got)
	}
}

// The zero ID stands for none, so worker 0 does not issue it in the layout's first tick.
func TestZeroIsNotIssued(t *testing.T) {
	for sequenceBits := range uint8(4) {
		layout := bits.Layout{TimeBits: 31, SequenceBits: sequenceBits, Epoch: start, Unit: time.Second}
		for kind := range kinds {
			for range 20 { // the first sequence may be random, below half
				clock := clockAt(start)
				gen := under(t, kind, uid.StaticWorker(0), uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
				if sequenceBits == 0 {
					clock.step(time.Second) // the first tick has no other id
				}
				first := mustNext(t, gen)
				if got := gen.Stats().Issued; got != 1 || first < 1 || kind == "cached" && first != 1 {
					t.Errorf("%s, %d sequence bits: the first id is %d, and %d issued", kind, sequenceBits, first, got)
				}
				gen.Close()
			}
		}
	}
}

// Nor is it under a number that was given within the layout's first tick, of which
// the old number had issued nothing.
func TestZeroIsNotIssuedUnderAnotherNumber(t *testing.T) {
	layout := bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 3, Epoch: start, Unit: time.Second}
	for range 50 { // the first sequence is random
		clock := clockAt(start)
		f := &fakeLeaser{number: 1, until: layout.End()}
		gen := under(t, "default", f, uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
		f.granted(0, time.Time{}, layout.End(), nil)
		for want := int64(1); want <= 7; want++ {
			if id := mustNext(t, gen); int64(id) != want || gen.Stats().Issued != want {
				t.Fatalf("Next() = %d, and %d issued, want %d", id, gen.Stats().Issued, want)
			}
		}
		gen.Close()
	}
}
