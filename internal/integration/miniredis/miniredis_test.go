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
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
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

// The store of leases passes its whole suite.
func TestWorkers(t *testing.T) {
	leasetest.Suite{Open: func(t *testing.T) leasetest.Opener {
		client := dial(t)
		return func(*testing.T) leasestore.Store { return workerredis.NewStore(client, workerredis.Config{}) }
	}}.Run(t)
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
