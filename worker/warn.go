package worker

import (
	"context"
	"time"

	"gorm.io/gorm"
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

// warnUsedUp tells when 80 % of the numbers are gone.
func (r *Registry) warnUsedUp(ctx context.Context, number, max int64) {
	if number < max-max/5 {
		return
	}
	r.log().WarnContext(ctx, "worker: numbers are running out; starts will fail when none is left",
		"table", r.name, "number", number, "max", max, "left", max-number)
}

// warnStep tells when each start costs more than one number. It only advises:
// a server that cannot answer is no reason to fail a start that has its number.
func (r *Registry) warnStep(ctx context.Context) {
	query := r.dialect().step
	if query == "" {
		return
	}
	var step int64
	err := r.primary(ctx, func(tx *gorm.DB) error { return tx.Raw(query).Scan(&step).Error })
	if err != nil || step <= 1 {
		return
	}
	r.log().WarnContext(ctx, "worker: the server's auto_increment_increment uses numbers up that many times as fast",
		"table", r.name, "step", step)
}
