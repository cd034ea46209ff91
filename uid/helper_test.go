package uid_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// generator is what the tests ask of each kind.
type generator interface {
	uid.Generator
	Parse(uid.ID) (bits.Parts, error)
}

// kinds opens a generator of each kind. Default and Slots take what their configs have in
// common with a CachedConfig.
var kinds = map[string]func(context.Context, uid.WorkerSource, uid.CachedConfig) (generator, error){
	"cached": func(ctx context.Context, leaser uid.WorkerSource, c uid.CachedConfig) (generator, error) {
		return uid.NewCached(ctx, leaser, c)
	},
	"default": func(ctx context.Context, leaser uid.WorkerSource, c uid.CachedConfig) (generator, error) {
		return uid.NewDefault(ctx, leaser, uid.DefaultConfig{Layout: c.Layout, Now: c.Now, Logger: c.Logger})
	},
	"slots": func(ctx context.Context, leaser uid.WorkerSource, c uid.CachedConfig) (generator, error) {
		return uid.NewSlots(ctx, leaser, uid.SlotsConfig{Layout: c.Layout, Now: c.Now, Logger: c.Logger})
	},
}

var (
	all     = []string{"cached", "default", "slots"}
	ordered = []string{"cached", "default"} // their ids ascend
)

// forKinds runs a test over a generator of each kind, in virtual time.
func forKinds(t *testing.T, of []string, config uid.CachedConfig, test func(t *testing.T, gen generator)) {
	for _, kind := range of {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, under(t, kind, lease.NewStatic(1), config)) })
		})
	}
}

// opened returns a generator that the end of the test closes.
func opened[G io.Closer](tb testing.TB, gen G, err error) G {
	tb.Helper()
	need.Must(tb, err)
	tb.Cleanup(func() { gen.Close() })
	return gen
}

func under(tb testing.TB, kind string, leaser uid.WorkerSource, config uid.CachedConfig) generator {
	tb.Helper()
	gen, err := kinds[kind](context.Background(), leaser, config)
	return opened(tb, gen, err)
}

func newCached(tb testing.TB, config uid.CachedConfig) *uid.Cached {
	tb.Helper()
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(1), config)
	return opened(tb, gen, err)
}

func newDefault(tb testing.TB, config uid.DefaultConfig) *uid.Default {
	tb.Helper()
	gen, err := uid.NewDefault(context.Background(), lease.NewStatic(1), config)
	return opened(tb, gen, err)
}

func newSlots(tb testing.TB, leaser uid.WorkerSource, config uid.SlotsConfig) *uid.Slots {
	tb.Helper()
	gen, err := uid.NewSlots(context.Background(), leaser, config)
	return opened(tb, gen, err)
}

func newBackfill(tb testing.TB, leaser uid.WorkerSource, config uid.BackfillConfig) *uid.Backfill {
	tb.Helper()
	b, err := uid.NewBackfill(context.Background(), leaser, config)
	return opened(tb, b, err)
}

// clock is a wall clock that only the test moves.
type clock struct{ nanos atomic.Int64 }

func clockAt(t time.Time) *clock {
	c := new(clock)
	c.nanos.Store(t.UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.nanos.Load()) }
func (c *clock) step(d time.Duration) { c.nanos.Add(int64(d)) }

// start is when the tests' clocks begin, five seconds into the layouts' time.
var start = bits.Registry().Epoch.Add(5 * time.Second)

// small has two ids for each second, so that a test can count in ticks.
var small = bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 1, Epoch: bits.Registry().Epoch, Unit: time.Second}

// roomy has so many ids for each tick that Default never waits for the next.
var roomy = bits.Layout{TimeBits: 31, WorkerBits: 1, SequenceBits: 31, Epoch: bits.Registry().Epoch, Unit: time.Second}

// bubble and virtual are small and the layout for a Registry in virtual time, which begins at
// midnight UTC 2000-01-01.
var (
	bubble  = since2000(small)
	virtual = since2000(bits.Registry())
)

func since2000(layout bits.Layout) bits.Layout {
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return layout
}

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)

func mustNext(tb testing.TB, gen uid.Generator) uid.ID {
	tb.Helper()
	id, err := gen.Next()
	need.Must(tb, err)
	return id
}

// parsed returns the parts of an id.
func parsed(tb testing.TB, gen generator, id uid.ID) bits.Parts {
	tb.Helper()
	parts, err := gen.Parse(id)
	need.Must(tb, err)
	return parts
}

// tick returns the tick of the next id.
func tick(tb testing.TB, gen generator) int64 {
	tb.Helper()
	return parsed(tb, gen, mustNext(tb, gen)).Tick
}

// calls are the ways to draw ids. Each fills ids, and returns how many it filled.
var calls = map[string]func(ctx context.Context, gen uid.Generator, ids []uid.ID) (int, error){
	"Next": func(_ context.Context, gen uid.Generator, ids []uid.ID) (int, error) {
		return oneByOne(ids, gen.Next)
	},
	"Wait": func(ctx context.Context, gen uid.Generator, ids []uid.ID) (int, error) {
		return oneByOne(ids, func() (uid.ID, error) { return gen.Wait(ctx) })
	},
	"NextN": func(_ context.Context, gen uid.Generator, ids []uid.ID) (int, error) {
		return gen.NextN(ids)
	},
	"WaitN": func(ctx context.Context, gen uid.Generator, ids []uid.ID) (int, error) {
		return gen.WaitN(ctx, ids)
	},
	"All": func(ctx context.Context, gen uid.Generator, ids []uid.ID) (n int, err error) {
		for id, err := range gen.All(ctx) {
			if err != nil {
				return n, err
			}
			ids[n] = id
			if n++; n == len(ids) {
				break
			}
		}
		return n, nil
	},
}

func oneByOne(ids []uid.ID, next func() (uid.ID, error)) (int, error) {
	for n := range ids {
		id, err := next()
		if err != nil {
			return n, err
		}
		ids[n] = id
	}
	return len(ids), nil
}

// ended returns a context for a Wait that does not wait.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// fakeLeaser grants what the test says.
type fakeLeaser struct {
	number      int64
	from, until time.Time // of the first grant
	fresh       bool      // what it grants
	err         error     // of Lease
	releaseErr  error

	limit int64
	grant func(lease.Grant)

	wanted func(until time.Time) // if set, told what is used

	mu       sync.Mutex
	used     time.Time
	most     time.Time
	released []time.Time
}

func (f *fakeLeaser) Lease(_ context.Context, r lease.Request) (lease.Lease, error) {
	f.limit, f.grant = r.Limit, r.Granted
	if f.err != nil {
		return nil, f.err
	}
	f.granted(f.number, f.from, f.until, nil)
	return f, nil
}

// granted grants a number, or none if it is -1.
func (f *fakeLeaser) granted(number int64, from, until time.Time, err error) {
	f.grant(lease.Grant{Held: number != -1, Number: number, From: from, Until: until, Fresh: f.fresh, Err: err})
}

func (f *fakeLeaser) Use(used, most time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if used.After(f.used) {
		f.used = used
	}
	f.most = most
	if f.wanted != nil {
		f.wanted(used)
	}
}

// told returns the arguments of the last Use.
func (f *fakeLeaser) told() (used, most time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used, f.most
}

func (f *fakeLeaser) Release(_ context.Context, next time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, next)
	return f.releaseErr
}

// at is the start of a tick of the layout small.
func at(tick int64) time.Time { return small.Epoch.Add(time.Duration(tick) * time.Second) }

// leased is a config for the layout small, whose clock shows tick 5.
func leased() (uid.CachedConfig, *clock) {
	c := clockAt(start)
	return uid.CachedConfig{Layout: small, Now: c.now}, c
}

// losing loses the number, and then grants another.
func (f *fakeLeaser) losing(number int64, until time.Time) {
	f.granted(-1, time.Time{}, time.Time{}, errors.New("lost"))
	f.granted(number, time.Time{}, until, nil)
}
