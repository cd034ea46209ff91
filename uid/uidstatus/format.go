package uidstatus

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// grouped returns n with its digits in groups of three.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if rest := len(digits) - i; i > 0 && rest%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// compact returns n in at most nine characters.
func compact(n int64) string {
	if n < 10_000_000 {
		return grouped(n)
	}
	f := float64(n)
	for _, unit := range []string{" k", " M", " G", " T", " P", " E"} {
		if f /= 1000; f < 999.95 || unit == " E" {
			return strconv.FormatFloat(f, 'f', 1, 64) + unit
		}
	}
	return "" // not reached
}

const (
	day  = 24 * time.Hour
	year = 365*day + day/4
)

// duration returns a duration to two figures or units, in words.
func duration(d time.Duration) string {
	if d < 0 {
		return "−" + duration(max(-d, 0)) // the least duration has no opposite
	}
	in := func(unit time.Duration, places int) string {
		return strconv.FormatFloat(float64(d)/float64(unit), 'f', places, 64)
	}
	two := func(unit time.Duration, name string, part time.Duration, partName string) string {
		text := strconv.FormatInt(int64(d/unit), 10) + " " + name
		if rest := d % unit / part; rest > 0 {
			text += " " + strconv.FormatInt(int64(rest), 10) + " " + partName
		}
		return text
	}
	switch {
	case d == 0:
		return "0 s"
	case d == math.MaxInt64: // what a difference of instants is cut off at
		return "more than 292 years"
	case d < time.Millisecond:
		return in(time.Microsecond, 0) + " µs"
	case d < time.Second:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(float64(d/(100*time.Millisecond))/10, 'f', -1, 64) + " s"
	case d < time.Hour:
		return two(time.Minute, "min", time.Second, "s")
	case d < 2*day:
		return two(time.Hour, "h", time.Minute, "min")
	case d < 2*year:
		return strconv.FormatInt(int64(d/day), 10) + " days"
	default:
		return in(year, 0) + " years"
	}
}

// when returns an instant as the page shows it: nearby the time of day, else the
// date, and how far it is from now.
func when(t, now time.Time) string {
	text := date(t)
	if unavailable := t.Sub(now).Abs(); unavailable < day {
		text = t.UTC().Format("15:04:05") + " UTC"
	}
	return text + ", " + toGo(t, now)
}

// date returns the day of an instant.
func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// toGo returns how far t is from now, and in which direction.
func toGo(t, now time.Time) string {
	if d := t.Sub(now); d >= 0 {
		return "in " + duration(d)
	}
	return duration(now.Sub(t)) + " ago"
}

// short returns the beginning of a long text.
func short(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
