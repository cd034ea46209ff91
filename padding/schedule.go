package padding

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// ErrSchedule is matched by every error about a schedule.
var ErrSchedule = errors.New("padding: invalid schedule")

// ParseSchedule reads a schedule: five cron fields (minute, hour, day of month,
// month, day of week), a descriptor such as @hourly, or an interval of a second
// or more, such as "@every 1m". Empty text is no schedule, returned as nil.
//
// Times are the process's local ones. A zone within the text is refused: the
// schedule of a refill has no need of one, and the parser panics on some.
func ParseSchedule(text string) (cron.Schedule, error) {
	spec := strings.TrimSpace(text)
	if spec == "" {
		return nil, nil
	}
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		return nil, fmt.Errorf("%w: %q names a time zone, want a specification without one", ErrSchedule, text)
	}
	if interval, ok := strings.CutPrefix(spec, "@every "); ok {
		// The parser would quietly make these one second.
		if d, err := time.ParseDuration(strings.TrimSpace(interval)); err == nil && d < time.Second {
			return nil, fmt.Errorf("%w: %q has the interval %v, want 1s or more", ErrSchedule, text, d)
		}
	}
	var schedule cron.Schedule
	err := Guard("cron parser", func() (err error) {
		schedule, err = cron.ParseStandard(spec)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrSchedule, text, err)
	}
	if schedule.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("%w: %q is never due", ErrSchedule, text)
	}
	return schedule, nil
}
