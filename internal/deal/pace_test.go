package deal

import (
	"math"
	"testing"
	"time"
)

// What the step becomes after a range of 1,000 ids.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		name    string
		pace    Pace
		used    int64
		elapsed time.Duration
		starved int64
		want    int64
	}{
		{"as before", Pace{First: 10, Least: 10}, 1000, 10 * time.Minute, 0, 1000},
		{"twice the rate", Pace{First: 10, Least: 10}, 1000, 5 * time.Minute, 0, 2000},
		{"at most 16 times", Pace{First: 10, Least: 10}, 1000, time.Millisecond, 0, 16000},
		{"takes found nothing", Pace{First: 10, Least: 10}, 10, 10 * time.Minute, 1, 2000},
		{"takes found nothing at a great rate", Pace{First: 10, Least: 10}, 1000, time.Second, 5, 16000},
		{"a little less", Pace{First: 10, Least: 10}, 600, 10 * time.Minute, 0, 1000},
		{"much less", Pace{First: 10, Least: 10}, 3, 10 * time.Minute, 0, 500},
		{"not below Least", Pace{First: 10, Least: 800}, 3, 10 * time.Minute, 0, 800},
		{"not above Most", Pace{First: 10, Least: 10, Most: 5000}, 1000, time.Second, 0, 5000},
		{"not below the store's step", Pace{Own: 1000}, 3, 10 * time.Minute, 0, 0},
		{"above the store's step", Pace{Own: 1000}, 2000, 10 * time.Minute, 0, 2000},
		{"back to the store's step", Pace{Own: 900}, 3, 10 * time.Minute, 0, 0},
		{"Most below the store's step", Pace{Own: 1000, Most: 300}, 3, 10 * time.Minute, 0, 300},
		{"the clock stands still", Pace{First: 10, Least: 10}, 1000, 0, 0, 16000},
		{"all ids there are", Pace{First: 10, Least: 10, Most: greatest}, math.MaxInt64, time.Nanosecond, 1, 16000},
	} {
		p := c.pace
		if p.Most == 0 {
			p.Most = 1 << 30
		}
		p.Size, p.at, p.Ahead = 1000, time.Now(), 10*time.Minute
		if got := p.Next(Usage{p.at.Add(c.elapsed), c.used, c.starved}); got != c.want {
			t.Errorf("%s: Next() = %d, want %d", c.name, got, c.want)
		}
	}
	first := Pace{First: 77, Least: 77, Most: 100}
	if got := first.Next(Usage{Now: time.Now()}); got != 77 {
		t.Errorf("the first range has %d ids, want 77", got)
	}
}

// Whatever was measured, the step keeps its bounds.
func FuzzStep(f *testing.F) {
	f.Add(int64(0), int64(0), int64(1)<<30, int64(1000), int64(1000), int64(5), int64(time.Second), int64(1))
	f.Add(int64(1), int64(1), int64(greatest), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(-1), int64(math.MaxInt64))
	f.Add(int64(greatest), int64(1), int64(greatest), int64(1), int64(greatest), int64(-1), int64(0), int64(0))
	f.Fuzz(func(t *testing.T, first, least, most, own, size, used, elapsed, starved int64) {
		if first < 0 || most < 1 || most > greatest || least < 0 || least > most || first > 0 && (first < least || first > most) {
			return // no config has these
		}
		own, size = max(1, own), max(1, size)
		p := Pace{First: first, Least: least, Most: most, Ahead: 10 * time.Minute, Own: own, Size: size, at: time.Now()}
		n := p.Next(Usage{p.at.Add(time.Duration(elapsed)), used, starved})
		switch {
		case n < 0 || n > most:
			t.Fatalf("Next() = %d, above Most, %d", n, most)
		case n == 0 && (least > 0 || own > most):
			t.Fatalf("Next() = 0 with Least %d and the store's step %d", least, own)
		case n > 0 && n < min(max(least, 1), most):
			t.Fatalf("Next() = %d, below Least, %d", n, least)
		case n > max(times(size, growth), least, own):
			t.Fatalf("Next() = %d after %d", n, size)
		}
	})
}
