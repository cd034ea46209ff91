package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Time that a wrong clock reserves stays reserved, so whoever has one does not
// start, and writes nothing. A Registry warns (TestWarnsOfClock).
func TestWrongClock(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		for _, tt := range []struct {
			ahead time.Duration
			opts  []option
			right bool
		}{
			{50 * time.Second, nil, true},
			{-50 * time.Second, nil, true},
			{70 * time.Second, nil, false},
			{-70 * time.Second, nil, false},
			{9 * time.Hour, nil, false},
			{-9 * time.Hour, nil, false},
			{9 * time.Hour, []option{lease.Config{MaxSkew: 10 * time.Hour}}, true},
			{-9 * time.Hour, []option{lease.Config{MaxSkew: 10 * time.Hour}}, true},
		} {
			now := func() time.Time { return time.Now().Add(tt.ahead) }
			gen, err := uid.NewCached(context.Background(), s.leaser(s.DB, tt.opts...), uid.CachedConfig{Layout: small, Now: now})
			if tt.right {
				if err != nil {
					t.Errorf("%v ahead: %v", tt.ahead, err)
					continue
				}
				if err := gen.Close(); err != nil {
					t.Error(err)
				}
				s.Exec(t, "DELETE FROM %s", s.Table)
				continue
			}
			var skew *lease.SkewError
			if gen != nil || !errors.Is(err, lease.ErrSkew) || !errors.As(err, &skew) {
				t.Errorf("%v ahead: %v; want ErrSkew", tt.ahead, err)
				continue
			}
			if off := skew.Ahead - tt.ahead; off.Abs() > 30*time.Second || skew.Max != lease.DefaultMaxSkew ||
				time.Since(skew.Store).Abs() > 30*time.Second {
				t.Errorf("%v ahead: %+v", tt.ahead, *skew)
			}
			wantAll(t, err, s.Table, skew.Ahead.Abs().Round(time.Millisecond).String(), "1m0s")
			if _, counted := s.row(t, -1); counted {
				t.Errorf("%v ahead: something was written", tt.ahead)
			}
			wantNumbers(t, s)
		}
	})
}

// A clock that goes wrong later does nothing to the number: nothing but ids that
// are stamped has more reserved. It is said once, and again when it is right.
func TestClockGoesWrongLater(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		var out logged.Text
		clock := new(offset)
		a := s.leaser(s.DB, lease.Config{Expiry: 100 * time.Millisecond}, logTo(out.Logger()))
		gen, err := uid.NewDefault(context.Background(), a, uid.DefaultConfig{Layout: small, Now: clock.now})
		if err != nil {
			t.Fatal(err)
		}
		defer gen.Close()
		renewed := func() {
			t.Helper()
			before := gen.Stats().Clock.ReservedUntil
			servertest.Eventually(t, "the number is renewed", func() bool { return gen.Stats().Clock.ReservedUntil.After(before) })
		}
		for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
			out.Reset()
			clock.set(ahead)
			servertest.Eventually(t, "it is said", func() bool { return out.Count("level=WARN", "clock has gone wrong", "number=0") == 1 })
			renewed()
			renewed()
			clock.set(0)
			servertest.Eventually(t, "it is taken back", func() bool { return out.Count("level=INFO", "clock is right again") == 1 })
			renewed()
			if n := out.Count("clock"); n != 2 {
				t.Errorf("%v ahead: logged %s", ahead, &out)
			}
			if stats := gen.Stats(); stats.Clock.LeaseError != nil || stats.Clock.WorkerChanges != 0 ||
				stats.Clock.ReservedUntil.After(time.Now().Add(lease.DefaultWindow+time.Minute)) {
				t.Errorf("%v ahead: %+v", ahead, stats)
			}
		}
	})
}
