package worker

import (
	"context"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/calls"
)

// maxSkew is how far apart the clocks of process and database may be without a warning.
const maxSkew = time.Minute

// warnClock compares the database's time of the insert with local times around it.
func (r *Registry) warnClock(ctx context.Context, before, created, after time.Time) {
	if created.IsZero() {
		return // this kind of database was not asked
	}
	ahead := calls.Skew(before, after, created, maxSkew)
	if ahead == 0 || ahead > 0 && ahead <= maxSkew+time.Second { // created has whole seconds
		return
	}
	r.log().WarnContext(ctx, "worker: the local clock and the database's clock disagree; ids carry the local time",
		"table", r.name, "local_ahead", ahead.Round(time.Second), "database_time", created)
}

// warnFew warns of an adopted layout whose numbers a Registry's starts use up soon.
func (r *Registry) warnFew(ctx context.Context, text string) {
	layout, err := bits.ParseLayout(text)
	if err != nil || layout.WorkerBits > 16 {
		return
	}
	r.log().WarnContext(ctx, "worker: the database's layout has few worker numbers for a Registry, which consumes one at each start; a Leaser reuses them",
		"table", r.name, "layout", text, "starts", int64(1)<<layout.WorkerBits-1)
}

func (r *Registry) warnUsedUp(ctx context.Context, number, limit int64) {
	if number < limit-limit/5 {
		return
	}
	r.log().WarnContext(ctx, "worker: numbers are running out; starts will fail when none is left",
		"table", r.name, "number", number, "max", limit, "left", limit-number)
}
