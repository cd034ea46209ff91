// Package miniredis tests the stores in Redis on the server in memory that other projects' tests
// run on.
package miniredis

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the server does not show how it keeps data
	os.Exit(m.Run())
}

func dial(t *testing.T) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { client.Close() })
	return client
}

// Two generators hold two numbers, which they give back.
func TestWorkers(t *testing.T) {
	client := dial(t)
	for range 3 { // starts, on the rows that the last one has left
		workers := map[int64]bool{}
		var open []uid.Generator
		for range 2 {
			g, err := uid.NewCached(t.Context(), workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
			need.Must(t, err)
			id, err := g.Next()
			need.Must(t, err)
			parts, err := g.Parse(id)
			need.Must(t, err)
			workers[parts.Worker] = true
			open = append(open, g)
		}
		if len(workers) != 2 {
			t.Errorf("the numbers are %v, want two", workers)
		}
		for _, g := range open {
			need.Must(t, g.Close())
		}
	}
}

// A counter is created, drawn from, raised, listed, and goes on after a restart.
func TestCounter(t *testing.T) {
	store := segmentredis.New(dial(t), segmentredis.Config{})
	for first := uid.ID(1); first < 4; first++ {
		counter, err := segment.New(t.Context(), store, "orders", segment.Config{Create: true})
		need.Must(t, err)
		if id, err := counter.Next(); id != first || err != nil {
			t.Errorf("Next() = %d, %v; want %d", id, err, first)
		}
		need.Must(t, counter.Close())
	}
	if next, err := store.Raise(t.Context(), "orders", 1_000); next != 1_000 || err != nil {
		t.Errorf("Raise() = %d, %v", next, err)
	}
	if list, err := store.List(t.Context()); len(list) != 1 || list[0].Next != 1_000 || err != nil {
		t.Errorf("List() = %v, %v", list, err)
	}
	if _, err := segment.New(context.Background(), store, "none", segment.Config{}); !errors.Is(err, segment.ErrUnknownTag) {
		t.Errorf("a counter that nobody has created: %v", err)
	}
}
