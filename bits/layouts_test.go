package bits_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/bits"
)

// TestLayoutsPage reckons the tables of LAYOUTS.md and finds them there.
func TestLayoutsPage(t *testing.T) {
	text, err := os.ReadFile("LAYOUTS.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, table := range []string{tableOfLayouts(t), tableOfYears(), tableOfStarts()} {
		if !strings.Contains(page, table) {
			t.Errorf("LAYOUTS.md lacks this table:\n%s", table)
		}
	}
	for _, name := range bits.Names() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("LAYOUTS.md lacks the layout %s", name)
		}
	}
}

// TestSuccessionPage reckons the table of MIGRATING.md and finds it there.
func TestSuccessionPage(t *testing.T) {
	text, err := os.ReadFile("../uid/MIGRATING.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| old | next | from | every new id greater | ids can meet | fresh numbers |\n|---|---|---|---|---|---|\n"
	for _, row := range []struct{ old, next, from string }{
		{"baidu", "default", "2026-01-01"},
		{"default", "long-lived", "2027-01-01"},
		{"default", "31/16/16", "2027-01-01"},
		{"default", "28/22/13,epoch=2034-01-01", "2034-01-01"},
		{"default", "js-safe", "2027-01-01"},
		{"js-safe", "default", "2027-01-01"},
		{"snowflake", "default", "2027-01-01"},
		{"snowflake", "41/10/12,epoch=2026-01-01,unit=1ms", "2027-01-01"},
	} {
		from, err := time.Parse(time.DateOnly, row.from)
		if err != nil {
			t.Fatal(err)
		}
		s, err := bits.NewSuccession(mustLayout(t, row.old), mustLayout(t, row.next), time.Time{}, from)
		if err != nil {
			t.Fatal(err)
		}
		ordered, meet, fresh := "no", "never", "all"
		if s.Ordered {
			ordered = "yes"
		}
		if !s.From.IsZero() {
			meet = s.From.Format(time.DateOnly) + " to " + s.Until.Format(time.DateOnly)
			fresh = "none"
			if first, last, ok := s.FreshNumbers(500); ok {
				fresh = humanize.Comma(first) + " to " + humanize.Comma(last)
			}
		}
		table += fmt.Sprintf("| `%s` | `%s` | %s | %s | %s | %s |\n", row.old, row.next, row.from, ordered, meet, fresh)
	}
	if !strings.Contains(string(text), table) {
		t.Errorf("MIGRATING.md lacks this table:\n%s", table)
	}
}

// tableOfLayouts has what follows from a layout.
func tableOfLayouts(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| layout | bits | ids a second for each worker | workers | years | ends |\n|---|---|---|---|---|---|\n")
	for _, name := range append(bits.Names(), "31/16/16", "41/10/12,epoch=2026-01-01,unit=1ms") {
		layout := mustLayout(t, name)
		if layout.Unit > time.Second {
			t.Fatalf("%s has longer ticks than this table reckons with", name)
		}
		fmt.Fprintf(&b, "| `%s` | %d/%d/%d %v | %s | %s | %s | %s |\n",
			name, layout.TimeBits, layout.WorkerBits, layout.SequenceBits, layout.Unit,
			humanize.Comma(int64(time.Second/layout.Unit)<<layout.SequenceBits), humanize.Comma(1<<layout.WorkerBits),
			years(layout.TimeBits, layout.Unit), layout.End().Format(time.DateOnly))
	}
	return b.String()
}

// tableOfYears has how long a layout lasts.
func tableOfYears() string {
	var b strings.Builder
	b.WriteString("| time bits | ticks of 1s | of 10ms | of 1ms |\n|---|---|---|---|\n")
	for _, width := range []uint8{28, 30, 31, 32, 38, 39, 40, 41, 42} {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", width,
			years(width, time.Second), years(width, 10*time.Millisecond), years(width, time.Millisecond))
	}
	return b.String()
}

// tableOfStarts has how long a Registry's numbers last.
func tableOfStarts() string {
	var b strings.Builder
	b.WriteString("| worker bits | numbers | 10 starts a day | 100 | 1,000 | 10,000 |\n|---|---|---|---|---|---|\n")
	for _, width := range []uint8{10, 12, 16, 20, 22, 23} {
		numbers := int64(1)<<width - 1 // a Registry's begin at 1
		fmt.Fprintf(&b, "| %d | %s |", width, humanize.Comma(numbers))
		for _, daily := range []int64{10, 100, 1000, 10_000} {
			days := float64(numbers) / float64(daily)
			switch {
			case days < 2:
				fmt.Fprintf(&b, " %.0f hours |", math.Floor(days*24))
			case days < 730:
				fmt.Fprintf(&b, " %.0f days |", math.Floor(days))
			default:
				fmt.Fprintf(&b, " %s years |", humanize.Comma(int64(days/daysOfYear)))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

const daysOfYear = 365.2425

// years is how long 2^width ticks last, rounded down.
func years(width uint8, unit time.Duration) string {
	span := math.Ldexp(unit.Seconds(), int(width)) / (daysOfYear * 24 * 60 * 60)
	switch {
	case span < 1:
		return "less than 1"
	case span >= 1000:
		return "more than 1,000"
	case span >= 100:
		return fmt.Sprint(int64(span))
	}
	return fmt.Sprintf("%.1f", math.Floor(span*10)/10)
}
