package uid_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// never is a leaser that must not be asked: a config that is wrong does not
// cost a worker number.
type never struct{ t *testing.T }

func (n never) Lease(context.Context, lease.Request) (lease.Lease, error) {
	n.t.Error("a worker number was leased")
	return nil, errors.New("leased")
}

func TestConfigReportsEveryFaultAtOnce(t *testing.T) {
	wide := bits.Default()
	wide.SequenceBits = 63
	for _, test := range []struct {
		name   string
		make   func(uid.Leaser, uid.CachedConfig) error
		config uid.CachedConfig
		wants  []string
	}{
		{"cached", makeCached, uid.CachedConfig{
			Layout: wide, BoostPower: 33, PaddingFactor: 100, Schedule: "TZ=UTC @hourly", MaxAge: 1,
		}, []string{
			"Layout: bits: invalid layout: TimeBits + WorkerBits + SequenceBits is 28 + 22 + 63 = 113, want at most 63",
			"BoostPower is 33, want 1 to 20", // in the original, 33 means 1
			"PaddingFactor is 100, want 1 to 99",
			`Schedule: padding: invalid schedule: "TZ=UTC @hourly" names a time zone`,
			"MaxAge is 1ns, want 10ms or more, or a negative one to keep ids for ever",
		}},
		{"cached", makeCached, uid.CachedConfig{BoostPower: -1, PaddingFactor: -1}, []string{
			"BoostPower is -1, want 1 to 20",
			"PaddingFactor is -1, want 1 to 99",
		}},
		{"default", makeDefault, uid.CachedConfig{Layout: wide}, []string{"Layout: bits: invalid layout"}},
		{"cached", makeCached, uid.CachedConfig{
			Layout: bits.Layout{TimeBits: 12, SequenceBits: 51, Epoch: bits.Default().Epoch, Unit: 24 * time.Hour}, BoostPower: 12,
		}, []string{
			"BoostPower is 12, want at most 62 together with SequenceBits, 51",
		}},
		{"cached", makeCached, uid.CachedConfig{BoostPower: 17}, []string{
			"BoostPower is 17, want at most 16: a ring of 2^17 ticks of 1s never fills with MaxBorrow 24h0m0s and MaxAge 1m0s",
		}},
	} {
		err := test.make(never{t}, test.config)
		if !errors.Is(err, uid.ErrConfig) {
			t.Errorf("%s: error %v does not match ErrConfig", test.name, err)
			continue
		}
		for _, want := range test.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is\n%v\nwant in it %q", test.name, err, want)
			}
		}
		if got := strings.Count(err.Error(), "\n") + 1; got != len(test.wants) {
			t.Errorf("%s: %d faults, want %d:\n%v", test.name, got, len(test.wants), err)
		}
	}
}

// The greatest BoostPower that is accepted makes a ring that fills, and so does the
// default of every layout and MaxBorrow, given or not. A greater one would never fill.
func TestRingFills(t *testing.T) {
	for _, test := range []struct {
		unit, maxBorrow, maxAge time.Duration
		most                    int // 0 if 1 is too great
	}{
		{time.Second, 0, 0, 16},
		{time.Second, 63 * time.Second, uid.MinMaxAge, 6},
		{time.Second, 62 * time.Second, uid.MinMaxAge, 5},
		{time.Second, time.Nanosecond, 8 * time.Second, 3},
		{time.Second, time.Nanosecond, 7 * time.Second, 2},
		{time.Millisecond, 0, 0, 20},
		{6 * time.Hour, 0, 0, 2},
		{24 * time.Hour, 0, 0, 1},
		{30 * 24 * time.Hour, 0, 0, 0},
		{time.Second, -1, 0, 20},
		{time.Second, time.Nanosecond, -1, 20},
	} {
		layout := bits.Layout{TimeBits: 40, WorkerBits: 8, SequenceBits: 1, Epoch: bubble.Epoch, Unit: test.unit}
		config := uid.CachedConfig{Layout: layout, MaxBorrow: test.maxBorrow, MaxAge: test.maxAge}
		refused := max(test.most, uid.DefaultBoostPower) + 1
		for _, boost := range []int{0, test.most, uid.DefaultBoostPower, refused} {
			synctest.Test(t, func(t *testing.T) {
				config := config
				config.BoostPower = boost
				gen, err := uid.NewCached(t.Context(), uid.StaticWorker(1), config)
				if boost == refused {
					if !errors.Is(err, uid.ErrConfig) || boost <= uid.MaxBoostPower && !strings.Contains(err.Error(), "never fills") {
						t.Errorf("%+v, BoostPower %d: %v, want ErrConfig", test, boost, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := gen.Stats(); s.LastError != nil && config.MaxAge >= 0 {
					t.Errorf("%+v, BoostPower %d: the ring has %d of %d ids: %v", test, boost, s.Remaining, s.Ring.Capacity, s.LastError)
				}
				gen.Close()
			})
		}
	}
}

func makeCached(leaser uid.Leaser, config uid.CachedConfig) error {
	gen, err := uid.NewCached(context.Background(), leaser, config)
	if err == nil {
		gen.Close()
	}
	return err
}

func makeDefault(leaser uid.Leaser, config uid.CachedConfig) error {
	gen, err := uid.NewDefault(context.Background(), leaser, byClock(config))
	if err == nil {
		gen.Close()
	}
	return err
}

// makers are the two constructors.
var makers = map[string]func(uid.Leaser, uid.CachedConfig) error{"cached": makeCached, "default": makeDefault}

// The stock layout of the original ran out on 2024-11-20. Its default generator
// throws; its cached one goes on with negative ids. A future epoch gives
// negative ids as well.
func TestRefusesToStartOutOfTime(t *testing.T) {
	for name, make := range makers {
		err := make(never{t}, uid.CachedConfig{Layout: bits.Baidu()})
		if !errors.Is(err, uid.ErrTimeExhausted) || !strings.Contains(err.Error(), "2024-11-20T21:24:16Z") {
			t.Errorf("%s: error %v, want the day in it", name, err)
		}
		before := clockAt(bits.Default().Epoch.Add(-1))
		err = make(never{t}, uid.CachedConfig{Now: before.now})
		if !errors.Is(err, uid.ErrConfig) || !strings.Contains(err.Error(), "Layout.Epoch is 2026-01-01T00:00:00Z, want now or earlier: it is 2025-12-31T23:59:59.999999999Z") {
			t.Errorf("%s: error %v for an epoch in the future", name, err)
		}
	}
}

type assigner func(ctx context.Context, limit int64) (int64, error)

func (a assigner) Assign(ctx context.Context, limit int64) (int64, error) { return a(ctx, limit) }

// The original accepts worker -1, and forks mask a number that is too great.
func TestWorkerNumbers(t *testing.T) {
	unavailable := errors.New("unavailable")
	for name, make := range makers {
		for number, want := range map[int64]string{
			-1:      "worker number is -1, want 0 to 4194303",
			4194304: "worker number is 4194304, want 0 to 4194303",
		} {
			err := make(uid.StaticWorker(number), uid.CachedConfig{})
			if !errors.Is(err, uid.ErrWorkerRange) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q in it", name, err, want)
			}
		}
		for _, number := range []int64{0, 4194303} {
			if err := make(uid.StaticWorker(number), uid.CachedConfig{}); err != nil {
				t.Errorf("%s: worker %d: %v", name, number, err)
			}
		}
		err := make(lease.Forever(assigner(func(_ context.Context, limit int64) (int64, error) {
			if limit != 4194303 {
				t.Errorf("%s: the assigner was told %d", name, limit)
			}
			return 0, unavailable
		})), uid.CachedConfig{})
		if err != unavailable {
			t.Errorf("%s: error %v, want that of the assigner", name, err)
		}
		if err := make(nil, uid.CachedConfig{}); !errors.Is(err, uid.ErrConfig) {
			t.Errorf("%s: error %v for no assigner", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := uid.NewCached(ctx, never{t}, uid.CachedConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v with a cancelled context", err)
	}
	if _, err := uid.NewDefault(ctx, never{t}, uid.DefaultConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v with a cancelled context", err)
	}
}

// The original writes several lines for each refill.
func TestLogIsQuiet(t *testing.T) {
	log, logger := recorder()
	gen := newCached(t, uid.CachedConfig{Logger: logger, Layout: small, MaxBorrow: -1, BoostPower: 1})
	for range 10_000 {
		mustNext(t, gen)
	}
	gen.Close()
	// Nor is the limit of borrowed time out of the ordinary.
	gen = newCached(t, uid.CachedConfig{Logger: logger, Layout: small, MaxBorrow: time.Nanosecond})
	for err := error(nil); err == nil; {
		_, err = gen.Next()
	}
	gen.Close()
	if !slices.Equal(log.messages, []string{"INFO uid: started", "INFO uid: started"}) {
		t.Errorf("two starts and normal work were logged as %q, want a line for each start", log.messages)
	}
}

func TestWarnsWhenTheLayoutEndsSoon(t *testing.T) {
	end := bits.Default().End()
	for name, make := range makers {
		for _, test := range []struct {
			now  time.Time
			want int
		}{{end.AddDate(-1, 0, -1), 1}, {end.AddDate(-1, 0, 1), 2}} { // a start is a line
			log, logger := recorder()
			if err := make(uid.StaticWorker(1), uid.CachedConfig{Logger: logger, Now: clockAt(test.now).now}); err != nil {
				t.Fatal(err)
			}
			if len(log.messages) != test.want {
				t.Errorf("%s at %v: logged %q, want %d lines", name, test.now, log.messages, test.want)
			}
		}
	}
	forBoth(t, uid.CachedConfig{Now: clockAt(end.AddDate(0, 0, -1)).now}, func(t *testing.T, gen generator) {
		if s := gen.Stats(); !s.Clock.LayoutEndsSoon || !s.Clock.LayoutEnd.Equal(end) {
			t.Errorf("Stats() = %+v the day before the end", s)
		}
	})
}
