package lease

import (
	"log/slog"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// readClock judges the clock that stamps ids after a read of the store, which began when
// that clock showed before. If the store has no clock, the answer gets the time of the
// clock that stamps ids, which is compared with the time that has passed since the start.
func (k *keeper) readClock(before time.Time, answer *protocol.Answer) error {
	after, most := k.request.Clock(), k.leaser.config.MaxSkew
	if answer.Now > 0 {
		store := time.UnixMilli(answer.Now)
		k.origin, k.began, k.hasClock = store, time.Now(), true
		err := compareClocks(before, after, store, most)
		if err != nil {
			err.StoreTime = store.UTC()
		}
		return k.checkSkew(err)
	}
	answer.Now, k.hasClock = millis(after), false
	if !k.started {
		k.origin, k.began = after.Round(0), time.Now() // Round: a step shows in the wall time alone
		return nil
	}
	return k.checkSkew(compareClocks(after, after, k.expected(), most))
}

// expected is what the store's clock shows by now unless it, or this process, was stopped or stepped.
func (k *keeper) expected() time.Time { return k.origin.Add(time.Since(k.began)) }

// expect lets a renewal write without a read. Its bounds of the store's clock allow for the time of a request. They leave
// the reservation seven eighths of the window or more, and a clock that is off by more than MaxSkew to the next read.
func (k *keeper) expect() {
	own, right, most, near := k.request.Clock(), k.expected(), k.leaser.config.MaxSkew, k.leaser.config.Window/8
	switch {
	case !k.hasClock:
		var answer protocol.Answer
		_ = k.readClock(own, &answer) // fails starts only
		k.holder.Expect(answer.Now, 0, 0)
	case !k.skewed && compareClocks(own, own, right, most) == nil:
		earliest, latest := right.Add(-near), right.Add(near)
		if least := own.Add(-most); least.After(earliest) {
			earliest = least
		}
		if greatest := own.Add(most); greatest.Before(latest) {
			latest = greatest
		}
		k.holder.Expect(millis(right), millis(earliest), millis(latest.Add(k.timeout.now)))
	}
}

// compareClocks returns nil if the difference is at most most.
func compareClocks(before, after, right time.Time, most time.Duration) *SkewError {
	if ahead := calls.Skew(before, after, right, most); ahead != 0 {
		return &SkewError{Ahead: ahead, Max: most}
	}
	return nil
}

// checkSkew fails a start whose clock is wrong before it writes anything. Later, it logs changes.
func (k *keeper) checkSkew(skew *SkewError) error {
	switch {
	case skew != nil && !k.started:
		return skew
	case skew != nil && !k.skewed:
		k.log(slog.LevelWarn, "lease: the clock has gone wrong; ids carry its time, which cannot be used again", "error", skew)
	case skew == nil && k.skewed:
		k.log(slog.LevelInfo, "lease: the clock is right again")
	}
	k.skewed = skew != nil
	return nil
}
