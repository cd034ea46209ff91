package lease

import (
	"log/slog"
	"time"
)

// compareClocks compares the clock that stamps ids, before and after a read, with the
// store's clock. If they are too far apart, a start fails before it writes anything. A
// later difference costs a line in the log when it begins and when it ends; ids follow
// the clock.
func (k *keeper) compareClocks(before, after time.Time, store int64) error {
	at, most := time.UnixMilli(store), k.leaser.maxSkew
	var err error
	switch {
	case before.Sub(at) > most:
		err = &SkewError{Ahead: before.Sub(at), Max: most, Store: at.UTC()}
	case at.Sub(after) > most:
		err = &SkewError{Ahead: after.Sub(at), Max: most, Store: at.UTC()}
	}
	switch {
	case !k.started:
		return err
	case err != nil && !k.skewed:
		k.log(slog.LevelWarn, "lease: the clock has gone wrong; ids follow it, and the time that they carry is used up", "error", err)
	case err == nil && k.skewed:
		k.log(slog.LevelInfo, "lease: the clock is right again")
	}
	k.skewed = err != nil
	return nil
}
