package padding_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
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
		"every minute":                 "or an interval such as @every 1m",
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
		need.Error(t, err, padding.ErrSchedule, strings.TrimSpace(spec), want)
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

func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		stale := atomic.Int64{}
		stale.Store(-1)
		e := newExecutor(t, r, c.source, padding.Config{Schedule: schedule(t, "@every 1m"), Stale: stale.Load, StaleEvery: 24 * time.Hour})
		e.Start()
		synctest.Wait()
		take(t, r, runLen) // room for one, well above the threshold
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if got := r.Counts().Put; got != 4*runLen {
			t.Fatalf("%d ids put before the schedule is due, want %d", got, 4*runLen)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.Counts().Put; got != 5*runLen {
			t.Fatalf("%d ids put when the schedule is due, want %d", got, 5*runLen)
		}
		stale.Store(2*runLen - 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.Counts(); got.Dropped != runLen || got.Remaining != 4*runLen {
			t.Fatalf("counts are %+v, want one run dropped and the ring full", got)
		}
		if id, _ := r.Take(); id != 2*runLen {
			t.Errorf("Take() = %d after ids below %d went stale", id, 2*runLen)
		}
		// Closed, it is due no more.
		e.Close()
		before := c.calls.Load()
		time.Sleep(time.Hour)
		if got := c.calls.Load(); got != before {
			t.Errorf("the source was asked %d times after Close", got-before)
		}
	})
}

// A throwing run cancels the schedule of the original.
func TestScheduleSurvivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		var checks atomic.Int64
		e := newExecutor(t, r, c.source, padding.Config{Schedule: schedule(t, "@every 1s"), StaleEvery: 24 * time.Hour, Stale: func() int64 {
			checks.Add(1)
			panic("stale")
		}})
		e.Start()
		synctest.Wait()
		checks.Store(0) // those of the first fill
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		e.Close()
		if got := checks.Load(); got != 10 {
			t.Errorf("the schedule ran %d times in 10 s, want 10", got)
		}
	})
}

// A schedule works without MaxAge. It ends if no time of it is within the parser's five years, as for 29 February
// when the next leap years are 2096 and 2104.
func TestScheduleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRing(t), new(counter)
		e := newExecutor(t, r, c.source, padding.Config{Schedule: schedule(t, "0 0 29 2 *")})
		e.Start()
		synctest.Wait()
		take(t, r, runLen) // above the threshold
		time.Sleep(time.Until(time.Date(2097, time.January, 1, 0, 0, 0, 0, time.Local)))
		synctest.Wait()
		take(t, r, runLen)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if got := r.Counts().Put; got != 5*runLen {
			t.Errorf("%d ids were put, want %d: the schedule was due, and is no more", got, 5*runLen)
		}
	})
}
