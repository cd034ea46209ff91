package lease

import (
	"testing"
	"time"
)

func TestUsage(t *testing.T) {
	begin := time.UnixMilli(1_000_000)
	const interval = 15 * time.Second
	for _, tt := range []struct {
		name       string
		before     usage
		elapsed    time.Duration
		used, base int64
		want       int64
	}{
		{"the first look", usage{}, 0, 5_000_000, 1_000_000, 0},
		{"a renewal without haste", usage{begin, 1_000_000}, interval, 1_015_000, 1_015_000, 0},
		{"nothing used", usage{begin, 1_000_000}, time.Second, 1_000_000, 1_001_000, 0},
		{"a little borrowed fast", usage{begin, 1_000_000}, 10 * time.Millisecond, 1_300_000, 1_000_010, 1_300_000 + 299_990},
		{"much borrowed, slowly", usage{begin, 9_000_000}, time.Second, 9_010_000, 1_001_000, 9_010_000 + 20_000},
		{"at the same moment", usage{begin, 1_000_000}, 0, 1_000_001, 1_000_000, 1_000_001 + 1},
		{"a clock that stepped back", usage{begin, 4_600_000}, time.Millisecond, 4_601_000, 1_000_000, 4_601_000 + 20_000},
		{"a floor far ahead is no borrowing", usage{begin, 8_000_000}, time.Second, 8_001_000, 8_000_000, 8_001_000 + 1_000},
	} {
		u := tt.before
		if got := u.ahead(begin.Add(tt.elapsed), tt.used, tt.base, interval); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if want := (usage{begin.Add(tt.elapsed), max(tt.used, tt.base)}); u != want {
			t.Errorf("%s: then %v, want %v", tt.name, u, want)
		}
	}
}
