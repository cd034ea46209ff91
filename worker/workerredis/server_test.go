//go:build linux

package workerredis_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

// soon has a replica synchronized without waiting for others.
var soon = []string{"--repl-diskless-sync-delay", "0"}

// server is a Redis.
type server struct{ *servertest.Redis }

// start starts a Redis on a new directory.
func start(t *testing.T, args ...string) server {
	t.Helper()
	return server{servertest.StartRedis(t, args...)}
}

// client returns a client that finds the server wherever it is.
func (s server) client(t *testing.T, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	options := &redis.Options{
		Addr: s.Address(), Dialer: s.Dial,
		MinRetryBackoff: time.Millisecond, MaxRetryBackoff: 2 * time.Millisecond, DialerRetries: 1,
	}
	for _, f := range change {
		f(options)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// take takes a number from client, by a holder that looks at its row often.
func take(t *testing.T, client redis.UniversalClient, opts ...lease.Config) *holding.Holder {
	t.Helper()
	return holding.Take(t, workerredis.New(client, holding.Merge(append([]lease.Config{{Expiry: 200 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}}}, opts...)...)), 1023)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
