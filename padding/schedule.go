package padding

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/uidring/uidring/internal/calls"
)

// ErrSchedule is matched by every error about a schedule.
var ErrSchedule = errors.New("padding: invalid schedule")

// Schedule says when an executor fills its ring even if it is not low. The zero Schedule is never
// due. [ParseSchedule] reads one from text.
type Schedule struct{ due cron.Schedule }

// IsZero reports whether the schedule is never due.
func (s Schedule) IsZero() bool { return s.due == nil }

func (s Schedule) arm(timer *time.Timer) {
	timer.Stop()
	if s.IsZero() {
		return
	}
	now := time.Now()
	if next := s.due.Next(now); !next.IsZero() {
		timer.Reset(next.Sub(now))
	}
}

// ParseSchedule reads a schedule: five cron fields, a descriptor such as @hourly, or an interval of
// a second or more, such as "@every 1m". The fields are minute, hour, day of month, month and day
// of week. Empty text yields the zero Schedule.
//
// Times are in the local zone. The executor's timer runs on the monotonic clock, so a step of the
// wall clock delays the schedule by at most one interval. The error matches [ErrSchedule], and
// quotes the text. A time zone in the text is an error, because the underlying cron parser panics
// on some zones.
func ParseSchedule(text string) (Schedule, error) {
	spec := strings.TrimSpace(text)
	if spec == "" {
		return Schedule{}, nil
	}
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		return Schedule{}, fmt.Errorf("%w: %q names a time zone, want a specification without one", ErrSchedule, text)
	}
	if interval, ok := strings.CutPrefix(spec, "@every "); ok {
		// The parser would quietly make these one second.
		if d, err := time.ParseDuration(strings.TrimSpace(interval)); err == nil && d < time.Second {
			return Schedule{}, fmt.Errorf("%w: %q has the interval %v, want 1s or more", ErrSchedule, text, d)
		}
	}
	var schedule cron.Schedule
	err := calls.Call("padding", "cron parser", func() (err error) {
		schedule, err = cron.ParseStandard(spec)
		return err
	})
	if err != nil {
		return Schedule{}, fmt.Errorf("%w: %q: %w, want five cron fields, a word such as @hourly, or an interval such as @every 1m", ErrSchedule, text, err)
	}
	if schedule.Next(time.Now()).IsZero() {
		return Schedule{}, fmt.Errorf("%w: %q is never due", ErrSchedule, text)
	}
	return Schedule{schedule}, nil
}
