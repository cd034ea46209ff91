package lease

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	begin := time.UnixMilli(1_000_000)
	const interval = 15 * time.Second
	for _, tt := range []struct {
		name       string
		before     pace
		elapsed    time.Duration
		used, base int64
		want       int64
	}{
		{"the first look", pace{}, 0, 5_000_000, 1_000_000, 0},
		{"a renewal without haste", pace{begin, 1_000_000}, interval, 1_015_000, 1_015_000, 0},
		{"nothing used", pace{begin, 1_000_000}, time.Second, 1_000_000, 1_001_000, 0},
		{"a little borrowed fast", pace{begin, 1_000_000}, 10 * time.Millisecond, 1_300_000, 1_000_010, 1_300_000 + 299_990},
		{"much borrowed, slowly", pace{begin, 9_000_000}, time.Second, 9_010_000, 1_001_000, 9_010_000 + 20_000},
		{"at the same moment", pace{begin, 1_000_000}, 0, 1_000_001, 1_000_000, 1_000_001 + 1},
		{"a clock that stepped back", pace{begin, 4_600_000}, time.Millisecond, 4_601_000, 1_000_000, 4_601_000 + 20_000},
		{"a floor far ahead is no borrowing", pace{begin, 8_000_000}, time.Second, 8_001_000, 8_000_000, 8_001_000 + 1_000},
	} {
		p := tt.before
		if got := p.ahead(begin.Add(tt.elapsed), tt.used, tt.base, interval); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if want := (pace{begin.Add(tt.elapsed), max(tt.used, tt.base)}); p != want {
			t.Errorf("%s: then %v, want %v", tt.name, p, want)
		}
	}
}
