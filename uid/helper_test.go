package uid_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newCached(tb testing.TB, config uid.CachedConfig) *uid.Cached {
	tb.Helper()
	return newCachedOf(tb, 1, config)
}

func newCachedOf(tb testing.TB, worker int64, config uid.CachedConfig) *uid.Cached {
	tb.Helper()
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(worker), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { gen.Close() })
	return gen
}

func newDefault(tb testing.TB, config uid.DefaultConfig) *uid.Default {
	tb.Helper()
	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(1), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { gen.Close() })
	return gen
}

// generator is what the tests ask of both kinds.
type generator interface {
	uid.Generator
	Parse(uid.ID) (bits.Parts, error)
	Stats() uid.Stats
}

// forBoth runs a test over both generators.
func forBoth(t *testing.T, config uid.CachedConfig, test func(t *testing.T, gen generator)) {
	t.Run("cached", func(t *testing.T) { test(t, newCached(t, config)) })
	t.Run("default", func(t *testing.T) { test(t, newDefault(t, byClock(config))) })
}

// byClock is what a CachedConfig and a DefaultConfig have in common.
func byClock(c uid.CachedConfig) uid.DefaultConfig {
	return uid.DefaultConfig{Layout: c.Layout, Now: c.Now, Logger: c.Logger}
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
var start = bits.Default().Epoch.Add(5 * time.Second)

// small has two ids for each second, so that a test can count in ticks.
var small = bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 1, Epoch: bits.Default().Epoch, Unit: time.Second}

// bubble is small for tests in virtual time, which begins at midnight UTC
// 2000-01-01.
var bubble = bits.Layout{TimeBits: 31, WorkerBits: 8, SequenceBits: 1, Epoch: time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second}

func mustNext(tb testing.TB, gen uid.Generator) uid.ID {
	tb.Helper()
	id, err := gen.Next()
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// tick returns the tick of the next id.
func tick(tb testing.TB, gen generator) int64 {
	tb.Helper()
	parts, err := gen.Parse(mustNext(tb, gen))
	if err != nil {
		tb.Fatal(err)
	}
	return parts.Tick
}

// records keeps what is logged.
type records struct {
	slog.Handler
	messages []string
}

func recorder() (*records, *slog.Logger) {
	r := &records{Handler: slog.DiscardHandler}
	return r, slog.New(r)
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	r.messages = append(r.messages, record.Level.String()+" "+record.Message)
	return nil
}

// ended returns a context for a Wait that does not wait.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
