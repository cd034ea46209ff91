package padding_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/padding"
)

func TestParseSchedule(t *testing.T) {
	for _, spec := range []string{"@every 1m", " @every 1s ", "@hourly", "* * * * *", "0 4 * * 1"} {
		if schedule, err := padding.ParseSchedule(spec); schedule.IsZero() || err != nil {
			t.Errorf("ParseSchedule(%q) = %v, %v", spec, schedule, err)
		}
	}
	for _, spec := range []string{"", "  "} {
		if schedule, err := padding.ParseSchedule(spec); !schedule.IsZero() || err != nil {
			t.Errorf("ParseSchedule(%q) = %v, %v, want no schedule", spec, schedule, err)
		}
	}
	for spec, want := range map[string]string{
		"every minute":                 `"every minute"`,
		"* * * *":                      `"* * * *"`,
		"* * * * * *":                  `"* * * * * *"`,
		"@every":                       `"@every"`,
		"@every x":                     `"@every x"`,
		"@every 10ms":                  "interval 10ms, want 1s or more",
		"@every 0s":                    "interval 0s, want 1s or more",
		"@every -1m":                   "interval -1m0s, want 1s or more",
		"TZ=UTC @hourly":               "names a time zone",
		"CRON_TZ=Asia/Tokyo * * * * *": "names a time zone",
		"TZ=":                          "names a time zone", // the parser panics on this one
		"0 0 30 2 *":                   "never due",
		"99 * * * *":                   `"99 * * * *"`,
	} {
		_, err := padding.ParseSchedule(spec)
		if !errors.Is(err, padding.ErrSchedule) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSchedule(%q): error %v, want %q in it", spec, err, want)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, spec := range []string{"@every 1m", "TZ=", "* * * * *", "@x", "1-2/3,4 * ? * *"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if _, err := padding.ParseSchedule(spec); err != nil && !errors.Is(err, padding.ErrSchedule) {
			t.Errorf("ParseSchedule(%q): %v does not match ErrSchedule", spec, err)
		}
	})
}
