package uidstatus

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// compact returns n in at most nine characters.
func compact(n int64) string {
	if n < 10_000_000 {
		return figures.Grouped(n)
	}
	f, units := float64(n)/1000, " k M G T P E"
	for f >= 999.95 {
		f, units = f/1000, units[2:]
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + units[:2]
}

const (
	day  = 24 * time.Hour
	year = 365*day + day/4
)

// duration returns a duration to two units, as Go writes it, or in days or years.
func duration(d time.Duration) string {
	unit := time.Microsecond
	switch far := d.Abs(); {
	case far == math.MaxInt64: // what a difference of instants is cut off at
		return "more than 292 years"
	case far >= 2*year:
		return fmt.Sprintf("%d years", d.Round(year)/year)
	case far >= 2*day:
		return fmt.Sprintf("%d days", d/day)
	case far >= time.Hour:
		unit = time.Minute
	case far >= time.Minute:
		unit = time.Second
	case far >= time.Second:
		unit = 100 * time.Millisecond
	case far >= time.Millisecond:
		unit = time.Millisecond
	}
	text := d.Truncate(unit).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func show(value any, now time.Time) string {
	switch v := value.(type) {
	case int64:
		return figures.Grouped(v)
	case time.Duration:
		return duration(v)
	case time.Time:
		return when(v, now)
	case uid.Run:
		return figures.Grouped(int64(v.First)) + " to " + figures.Grouped(int64(last(v)))
	}
	return fmt.Sprint(value)
}

// when returns the time of day of an instant nearby, else its date, and how far off it is.
func when(t, now time.Time) string {
	if t.UTC().Year() > 9999 {
		return "after the year 9999"
	}
	if t.Sub(now).Abs() < day {
		return t.UTC().Format("15:04:05") + " UTC, " + toGo(t, now)
	}
	return date(t) + ", " + toGo(t, now)
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// toGo returns how far t is from now, and in which direction.
func toGo(t, now time.Time) string {
	if d := t.Sub(now); d >= 0 {
		return "in " + duration(d)
	}
	return duration(now.Sub(t)) + " ago"
}

func short(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
