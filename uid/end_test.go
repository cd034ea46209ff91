package uid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// At the end of the layout there is an error and never a negative id.
func TestCachedNeverPassesTheEnd(t *testing.T) {
	for _, bits := range []bits.Layout{
		{TimeBits: 8, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second},
		{TimeBits: 8, WorkerBits: 54, SequenceBits: 1, Epoch: start, Unit: time.Second},
	} {
		clock := clockAt(bits.End().Add(-20 * time.Second))
		_, logger := recorder()
		gen := newCached(t, uid.CachedConfig{Layout: bits, Now: clock.now, Logger: logger})
		for range 2 * 20 {
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

// A policy that fails does not hide the end of the layout.
func TestEndWithReject(t *testing.T) {
	layout := bits.Layout{TimeBits: 3, WorkerBits: 2, SequenceBits: 1, Epoch: start, Unit: time.Second}
	_, logger := recorder()
	gen := newCached(t, uid.CachedConfig{Layout: layout, Now: clockAt(start).now, RejectedTake: uid.Reject, Logger: logger})
	for range 2 * 8 {
		mustNext(t, gen)
	}
	if id, err := gen.Next(); !errors.Is(err, uid.ErrTimeExhausted) {
		t.Errorf("Next() = %d, %v past the end, want ErrTimeExhausted", id, err)
	}
}

// One wrong reading of the clock, that no id was stamped with, changes nothing.
func TestGlitchBeyondTheEnd(t *testing.T) {
	clock := clockAt(start)
	_, logger := recorder()
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now, Logger: logger})
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

// The zero ID stands for none.
func TestZeroIsNotIssued(t *testing.T) {
	for _, sequenceBits := range []uint8{0, 1, 3} {
		layout := bits.Layout{TimeBits: 31, SequenceBits: sequenceBits, Epoch: start, Unit: time.Second}
		clock := clockAt(start)
		generators := map[string]func() (generator, error){
			"cached": func() (generator, error) {
				return uid.NewCached(context.Background(), uid.StaticWorker(0), uid.CachedConfig{Layout: layout, Now: clock.now})
			},
			"default": func() (generator, error) {
				return uid.NewDefault(context.Background(), uid.StaticWorker(0), uid.DefaultConfig{Layout: layout, Now: clock.now})
			},
		}
		for name, open := range generators {
			gen, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if sequenceBits == 0 {
				clock.step(time.Second) // the first tick has no other id
			}
			// Default begins at a random sequence below half.
			if got := mustNext(t, gen); got < 1 || got > 1 && (name == "cached" || got >= 4) {
				t.Errorf("%s: the first id is %d, want 1", name, got)
			}
			if got := gen.Stats().Issued; got != 1 {
				t.Errorf("%s: %d issued, want 1", name, got)
			}
			gen.Close()
			if sequenceBits == 0 {
				clock.step(-time.Second)
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
		gen := defaultUnder(t, f, uid.CachedConfig{Layout: layout, Now: clock.now})
		f.granted(0, time.Time{}, layout.End(), nil)
		for want := int64(1); want <= 7; want++ {
			if id := mustNext(t, gen); int64(id) != want || gen.Stats().Issued != want {
				t.Fatalf("Next() = %d, and %d issued, want %d", id, gen.Stats().Issued, want)
			}
		}
		gen.Close()
	}
}
