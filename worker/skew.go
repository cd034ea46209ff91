package worker

import (
	"log/slog"
	"time"
)

// checkSkew compares the clock that stamps ids with the database's, before
// anything is written.
func (k *keeper) checkSkew(before, after time.Time, database int64) error {
	at := time.UnixMilli(database)
	var ahead time.Duration
	switch {
	case before.Sub(at) > k.leaser.maxSkew:
		ahead = before.Sub(at)
	case at.Sub(after) > k.leaser.maxSkew:
		ahead = after.Sub(at)
	default:
		return nil
	}
	return &SkewError{Ahead: ahead, Max: k.leaser.maxSkew, Database: at.UTC()}
}

// warnSkew logs when the clock has gone wrong since the start, and when it is right
// again. Ids follow it either way.
func (k *keeper) warnSkew(before, after time.Time, database int64) error {
	err := k.checkSkew(before, after, database)
	switch {
	case err != nil && !k.skewed:
		k.log(slog.LevelWarn, "worker: the clock has gone wrong; ids follow it, and the time that they carry is used up", "error", err)
	case err == nil && k.skewed:
		k.log(slog.LevelInfo, "worker: the clock is right again")
	}
	k.skewed = err != nil
	return nil
}
