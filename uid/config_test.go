package uid_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// never is a leaser that must not be asked: a wrong config costs no worker number.
type never struct{ t *testing.T }

func (n never) Lease(context.Context, lease.Request) (lease.Lease, error) {
	n.t.Error("a worker number was leased")
	return nil, errors.New("leased")
}

func TestConfigReportsEveryFaultAtOnce(t *testing.T) {
	wide := bits.Registry()
	wide.SequenceBits = 63
	for _, test := range []struct {
		config interface{ Validate() error }
		wants  []string
	}{
		{uid.CachedConfig{Layout: wide, BoostPower: 33, PaddingFactor: 100, Schedule: "TZ=UTC @hourly", MaxAge: 1}, []string{
			"Layout: bits: invalid layout: TimeBits + WorkerBits + SequenceBits is 28 + 22 + 63 = 113, want at most 63",
			"BoostPower is 33, want 1 to 20", // in the original, 33 means 1
			"PaddingFactor is 100, want 1 to 99",
			`Schedule: padding: invalid schedule: "TZ=UTC @hourly" names a time zone`,
			"MaxAge is 1ns, want 10ms or more, or -1ns to keep ids forever",
		}},
		{uid.CachedConfig{BoostPower: -1, PaddingFactor: -1}, []string{
			"BoostPower is -1, want 1 to 20",
			"PaddingFactor is -1, want 1 to 99",
		}},
		{uid.CachedConfig{
			Layout: bits.Layout{TimeBits: 12, SequenceBits: 51, Epoch: bits.Registry().Epoch, Unit: 24 * time.Hour}, BoostPower: 12,
		}, []string{
			"BoostPower is 12, want at most 62 minus SequenceBits (51)",
		}},
		{uid.CachedConfig{BoostPower: 17}, []string{
			"BoostPower is 17, want at most 16: a ring of 2^17 ticks of 1s never fills with MaxBorrow 24h0m0s and MaxAge 1m0s",
		}},
		{uid.CachedConfig{MaxBorrow: -time.Second, MaxAge: -time.Second}, []string{
			"MaxBorrow is -1s, want -1ns for no limit, 0 for the default, or more",
			"MaxAge is -1s, want 10ms or more, or -1ns to keep ids forever",
		}},
		{uid.DefaultConfig{Layout: wide, MaxBackward: -2}, []string{"Layout: bits: invalid layout", "MaxBackward is -2ns, want -1ns for no limit"}},
		{uid.DefaultConfig{Layout: wide}, []string{"Layout: bits: invalid layout"}},
		{uid.SlotsConfig{Layout: wide, Slots: -1}, []string{"Layout: bits: invalid layout", "Slots is -1, want a power of two from 1 to 65536"}},
		{uid.SlotsConfig{Slots: 3}, []string{"Slots is 3"}},
		{uid.SlotsConfig{Slots: 1 << 17}, []string{"Slots is 131072"}},
		{uid.BackfillConfig{Layout: wide, MaxTicks: -1}, []string{"Layout: bits: invalid layout", "MaxTicks is -1, want more than 0"}},
	} {
		need.Faults(t, test.config.Validate(), uid.ErrConfig, test.wants...)
	}
	for _, open := range kinds {
		_, err := open(t.Context(), never{t}, uid.CachedConfig{Layout: wide})
		need.Error(t, err, uid.ErrConfig)
	}
}

// The greatest BoostPower that is accepted makes a ring that fills, and so does the
// default of every layout and MaxBorrow. A greater one is refused: it would never fill.
func TestRingFills(t *testing.T) {
	need.Time(t)
	for _, test := range []struct {
		unit, maxBorrow, maxAge time.Duration
		most                    int // 0 if 1 is too great
	}{
		{time.Second, 0, 0, 16},
		{time.Second, 63 * time.Second, uid.MinMaxAge, 6},
		{time.Second, 62 * time.Second, uid.MinMaxAge, 5},
		{time.Second, uid.None, 8 * time.Second, 3},
		{time.Second, uid.None, 7 * time.Second, 2},
		{time.Millisecond, 0, 0, 20},
		{6 * time.Hour, 0, 0, 2},
		{24 * time.Hour, 0, 0, 1},
		{30 * 24 * time.Hour, 0, 0, 0},
		{time.Second, uid.Unlimited, 0, 20},
		{time.Second, uid.None, uid.Unlimited, 20},
	} {
		layout := bits.Layout{TimeBits: 40, WorkerBits: 8, SequenceBits: 1, Epoch: bubble.Epoch, Unit: test.unit}
		config := uid.CachedConfig{Layout: layout, MaxBorrow: test.maxBorrow, MaxAge: test.maxAge}
		refused := test.most + 1
		for _, boost := range []int{0, test.most, refused} {
			synctest.Test(t, func(t *testing.T) {
				config := config
				config.BoostPower = boost
				if boost == refused {
					if err := config.Validate(); !errors.Is(err, uid.ErrConfig) || boost <= uid.MaxBoostPower && !strings.Contains(err.Error(), "never fills") {
						t.Errorf("%+v, BoostPower %d: %v, want ErrConfig", test, boost, err)
					}
					return
				}
				gen := newCached(t, config)
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := gen.Stats(); s.LastError != nil && config.MaxAge >= 0 {
					t.Errorf("%+v, BoostPower %d: the ring has %d of %d ids: %v", test, boost, s.Remaining, s.Ring.Capacity, s.LastError)
				}
			})
		}
	}
}

type assigner func(ctx context.Context, limit int64) (int64, error)

func (a assigner) Assign(ctx context.Context, limit int64) (int64, error) { return a(ctx, limit) }

// The original accepts worker -1, and forks mask a number that is too great.
func TestWorkerNumbers(t *testing.T) {
	unavailable := errors.New("unavailable")
	for kind, open := range kinds {
		for number, want := range map[int64]string{
			-1:    "worker number is -1, want 0 to 65535",
			65536: "worker number is 65536, want 0 to 65535",
		} {
			_, err := open(t.Context(), lease.NewStatic(number), uid.CachedConfig{})
			need.Error(t, err, uid.ErrConfig, want)
		}
		for _, number := range []int64{0, 65535} {
			under(t, kind, lease.NewStatic(number), uid.CachedConfig{Logger: quiet})
		}
		_, err := open(t.Context(), lease.NewPermanent(assigner(func(_ context.Context, limit int64) (int64, error) {
			if limit != 65535 {
				t.Errorf("%s: the assigner was told %d", kind, limit)
			}
			return 0, unavailable
		})), uid.CachedConfig{})
		if err != unavailable {
			t.Errorf("%s: error %v, want that of the assigner", kind, err)
		}
		for _, source := range []uid.WorkerSource{nil, lease.New(nil, lease.Config{Expiry: -1})} {
			_, err := open(t.Context(), source, uid.CachedConfig{})
			need.Error(t, err, uid.ErrConfig)
		}
		_, err = open(ended(), never{t}, uid.CachedConfig{})
		need.Error(t, err, context.Canceled)
	}
}

// The original writes several lines for each refill.
func TestLogIsQuiet(t *testing.T) {
	var log logged.Text
	gen := newCached(t, uid.CachedConfig{Logger: log.Logger(), Layout: small, MaxBorrow: uid.Unlimited, BoostPower: 1})
	for range 10_000 {
		mustNext(t, gen)
	}
	gen.Close()
	// Nor is the limit of borrowed time out of the ordinary.
	gen = newCached(t, uid.CachedConfig{Logger: log.Logger(), Layout: small, MaxBorrow: time.Nanosecond})
	for err := error(nil); err == nil; {
		_, err = gen.Next()
	}
	gen.Close()
	if log.Count() != 2 || log.Count("level=INFO", "uid: started") != 2 {
		t.Errorf("two starts and normal work were logged as\n%s\nwant a line for each start", log.String())
	}
}

func TestWarnsWhenTheLayoutEndsSoon(t *testing.T) {
	end := bits.Fleet().End()
	for kind := range kinds {
		for _, test := range []struct {
			now  time.Time
			soon bool
		}{{end.AddDate(-1, 0, -1), false}, {end.AddDate(-1, 0, 1), true}} {
			var log logged.Text
			gen := under(t, kind, lease.NewStatic(1), uid.CachedConfig{Logger: log.Logger(), Now: clockAt(test.now).now})
			if warned := log.Count("level=WARN") == 1; warned != test.soon || log.Count() > 2 {
				t.Errorf("%s at %v: logged\n%s", kind, test.now, log.String())
			}
			if s := gen.Stats(); s.Clock.LayoutEndsSoon != test.soon || !s.Clock.LayoutEnd.Equal(end) {
				t.Errorf("%s at %v: Stats() = %+v", kind, test.now, s)
			}
		}
	}
}

// named is a leaser with a name.
type named struct{ *fakeLeaser }

func (named) String() string { return "shelf 7" }

// A start logs one line: what is stamped, and where the number is from.
func TestStartIsLogged(t *testing.T) {
	until := at(100)
	for _, test := range []struct {
		kind   string
		leaser uid.WorkerSource
		want   string
	}{
		{"Cached", lease.NewStatic(7), `worker=7 store="static worker" reserved_until="no end"`},
		{"Default", named{&fakeLeaser{number: 8, until: until}}, `worker=8 store="shelf 7" reserved_until=2026-01-01T00:01:40Z`},
		{"Slots", &fakeLeaser{number: 9, until: until}, `worker=9 store=*uid_test.fakeLeaser reserved_until=2026-01-01T00:01:40Z`},
		{"Backfill", &fakeLeaser{number: 10, fresh: true}, `worker=10 store=*uid_test.fakeLeaser reserved_until="no end"`},
	} {
		var log logged.Text
		if test.kind == "Backfill" {
			newBackfill(t, test.leaser, uid.BackfillConfig{Layout: small, Now: clockAt(start).now, Logger: log.Logger()}).Close()
		} else {
			config := uid.CachedConfig{Layout: small, Now: clockAt(start).now, Logger: log.Logger()}
			gen := under(t, strings.ToLower(test.kind), test.leaser, config)
			mustNext(t, gen)
			gen.Close()
		}
		want := `level=INFO msg="uid: started" kind=` + test.kind + ` layout="31/8/1,epoch=2026-01-01,unit=1s" layout_from=config ends=2094-01-19T03:14:08Z ` + test.want + "\n"
		if _, got, _ := strings.Cut(log.String(), " "); got != want {
			t.Errorf("logged %s, want %s", got, want)
		}
	}
	if got, want := lease.NewPermanent(assigner(nil)).String(), "uid_test.assigner"; got != want {
		t.Errorf("a Permanent is %q, want %q", got, want)
	}
}
