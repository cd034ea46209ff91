package uidstatus

import (
	"math"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/figures"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64][2]string{
		0:             {"0", "0"},
		999:           {"999", "999"},
		1000:          {"1,000", "1,000"},
		-1000:         {"-1,000", "-1,000"},
		-100:          {"-100", "-100"},
		9_999_999:     {"9,999,999", "9,999,999"},
		10_000_000:    {"10,000,000", "10.0 M"},
		999_950_000:   {"999,950,000", "1.0 G"},
		math.MaxInt64: {"9,223,372,036,854,775,807", "9.2 E"},
	} {
		if got := [2]string{figures.Grouped(n), compact(n)}; got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                  "0s",
		1:                                  "0s",
		900 * time.Microsecond:             "900µs",
		999_999 * time.Microsecond:         "999ms",
		time.Second:                        "1s",
		59_999 * time.Millisecond:          "59.9s",
		-90 * time.Second:                  "-1m30s",
		10 * time.Minute:                   "10m",
		time.Hour:                          "1h",
		20 * time.Hour:                     "20h",
		24*time.Hour - time.Second:         "23h59m",
		48 * time.Hour:                     "2 days",
		3 * year:                           "3 years",
		math.MaxInt64:                      "more than 292 years",
		time.Hour + 59*time.Second:         "1h",
		time.Minute + 999*time.Millisecond: "1m",
	} {
		if got := duration(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

func TestWhen(t *testing.T) {
	for d, want := range map[time.Duration]string{
		7 * time.Minute:     "12:07:00 UTC, in 7m",
		-time.Hour:          "11:00:00 UTC, 1h ago",
		23 * time.Hour:      "11:00:00 UTC, in 23h",
		day:                 "2026-03-02, in 24h",
		60 * day:            "2026-04-30, in 60 days",
		-3 * 24 * time.Hour: "2026-02-26, 3 days ago",
	} {
		if got := when(noon.Add(d), noon); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestPart(t *testing.T) {
	for _, tt := range []struct {
		a, b float64
		want int64
	}{{0, 8, 0}, {1, 1e9, 1}, {4, 8, 500}, {8, 8, 1000}, {9, 8, 1000}, {1, 0, 0}, {-1, 8, 0}} {
		if got := part(tt.a, tt.b); got != tt.want {
			t.Errorf("part(%v, %v) is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
