package worker

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// maxSkew is how far the clocks of process and database may be apart before a
// start says so.
const maxSkew = time.Minute

// warnClock compares the database's time of the insert with the local times
// before and after it.
func (r *Registry) warnClock(ctx context.Context, before, created, after time.Time) {
	if created.IsZero() {
		return // this kind of database was not asked
	}
	var ahead time.Duration // of the local clock
	switch {
	case before.Sub(created) > maxSkew+time.Second: // created has whole seconds
		ahead = before.Sub(created)
	case created.Sub(after) > maxSkew:
		ahead = after.Sub(created)
	default:
		return
	}
	r.log().WarnContext(ctx, "worker: the local clock and the database's disagree; ids carry the local one",
		"table", r.name, "local_ahead", ahead.Round(time.Second), "database_time", created)
}

// warnUsedUp logs when 80 % of the numbers are used up.
func (r *Registry) warnUsedUp(ctx context.Context, number, max int64) {
	if number < max-max/5 {
		return
	}
	r.log().WarnContext(ctx, "worker: numbers are running out; starts will fail when none is left",
		"table", r.name, "number", number, "max", max, "left", max-number)
}

// warnFlush logs when commits are confirmed before they are on the disk: after
// a crash, the server can then give numbers in use again. It never fails a
// start.
func (t *table) warnFlush(ctx context.Context, log *slog.Logger) {
	for _, s := range t.dialect().flushes {
		var value string
		if err := t.ask(ctx, &value, s.query); err == nil && slices.Contains(s.unsafe, value) {
			log.WarnContext(ctx, "worker: the database answers commits before they are on the disk; after a crash of the server numbers, and ids, can repeat",
				"table", t.name, "setting", s.name, "value", value)
		}
	}
}

// warnStep logs when each start uses up more than one number. It never fails a
// start, even if the server does not answer.
func (r *Registry) warnStep(ctx context.Context) {
	query := r.dialect().step
	if query == "" {
		return
	}
	var step int64
	if err := r.ask(ctx, &step, query); err != nil || step <= 1 {
		return
	}
	r.log().WarnContext(ctx, "worker: the server's auto_increment_increment uses numbers up that many times as fast",
		"table", r.name, "step", step)
}
