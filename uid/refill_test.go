package uid_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// However far off the next tick is, a clock that steps ahead is noticed within a
// second.
func TestWaitNoticesAStepAhead(t *testing.T) {
	var ahead atomic.Int64
	config := uid.CachedConfig{
		Layout:    bits.Layout{TimeBits: 31, WorkerBits: 8, Epoch: bubble.Epoch, Unit: 24 * time.Hour},
		MaxBorrow: uid.None,
		Now:       func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	}
	forKinds(t, ordered, config, func(t *testing.T, gen generator) {
		ahead.Store(0)
		mustNext(t, gen)
		time.AfterFunc(10*time.Second+time.Millisecond, func() { ahead.Store(int64(24 * time.Hour)) })
		begun := time.Now()
		if _, err := gen.Wait(t.Context()); err != nil || time.Since(begun) != 11*time.Second {
			t.Errorf("Wait() = %v after %v, want an id after 11s", err, time.Since(begun))
		}
	})
}

// The threshold is PaddingFactor per cent of the capacity, but one id at least,
// so that the ring is filled ahead of demand whatever its size.
func TestThreshold(t *testing.T) {
	for _, test := range []struct {
		sequenceBits  uint8
		boost, factor int
		want          int64
	}{
		{1, 1, 1, 1},
		{1, 1, 25, 1},
		{1, 1, 99, 3},
		{13, 3, 50, 1 << 15},
		{5, 2, 99, 126},
		{42, 16, 50, 1 << 57},
	} {
		layout := bits.Layout{TimeBits: 20, SequenceBits: test.sequenceBits, Epoch: start, Unit: time.Second}
		config := uid.CachedConfig{Layout: layout, Now: clockAt(start).now, BoostPower: test.boost, PaddingFactor: test.factor, Logger: quiet}
		gen := under(t, "cached", lease.NewStatic(0), config)
		if got := gen.Stats().Ring.Threshold; got != test.want {
			t.Errorf("%+v: threshold %d, want %d", test, got, test.want)
		}
	}
}
