//go:build linux

package segmentredis_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

var must, wantErr = need.Must, need.Error

func TestMain(m *testing.M) {
	segmenttest.Child(func(address string) (segment.Store, error) {
		address, prefix, _ := strings.Cut(address, " ")
		return segmentredis.New(redis.NewClient(&redis.Options{Addr: address}), segmentredis.Config{Prefix: prefix}), nil
	})
	goleak.VerifyTestMain(m)
}

// server is a Redis of the test's own.
type server struct{ *servertest.Redis }

func start(t testing.TB, args ...string) server {
	t.Helper()
	return server{servertest.StartRedis(t, args...)}
}

// client returns a client that finds the server wherever it is.
func (s server) client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
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

// do sends commands of an operator. Words are separated by blanks.
func do(t testing.TB, client *redis.Client, commands ...string) {
	t.Helper()
	for _, command := range commands {
		var args []any
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		if err := client.Do(t.Context(), args...).Err(); err != nil && !redis.HasErrorPrefix(err, "OOM") {
			t.Fatalf("%s: %v", command, err)
		}
	}
}

var prefixes atomic.Int64

func TestConformance(t *testing.T) {
	s := start(t)
	segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
		prefix := fmt.Sprintf("{test %d}:segments", prefixes.Add(1))
		config := segmentredis.Config{Prefix: prefix, Logger: slog.New(slog.DiscardHandler)}
		return segmenttest.Backend{
			Address: s.Address() + " " + prefix,
			Store:   func(t *testing.T) segment.Store { return segmentredis.New(s.client(t), config) },
			Faulty: func(t *testing.T) (segment.Store, segmenttest.Faults) {
				client, wire := s.wired(t)
				return segmentredis.New(client, config), wire.faults(t)
			},
		}
	}}.Run(t)
}

const (
	next = "{uidring}:segments:next"
	tags = "{uidring}:segments:tags"
)

// open returns a store on client with the counter orders, of which 100 ids are
// reserved.
func open(t *testing.T, client redis.UniversalClient) *segmentredis.Store {
	t.Helper()
	s := segmentredis.New(client, segmentredis.Config{Logger: slog.New(slog.DiscardHandler)})
	must(t, s.Create(t.Context(), "orders", 1, 10))
	want(t, s, 100, 1)
	return s
}

func want(t *testing.T, s *segmentredis.Store, n, first int64) {
	t.Helper()
	if f, c, err := s.Reserve(t.Context(), "orders", n); f != first || c != n || err != nil {
		t.Fatalf("Reserve(%d) = %d, %d, %v, want ids from %d", n, f, c, err, first)
	}
}

func TestCluster(t *testing.T) {
	s := start(t, "--cluster-enabled", "yes")
	do(t, s.client(t), "CLUSTER ADDSLOTSRANGE 0 16383")
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Address()}})
	defer client.Close()
	servertest.Eventually(t, "the cluster is up", func() bool {
		return strings.Contains(client.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	store := open(t, client)
	if done, err := store.Return(t.Context(), "orders", 51, 101); !done || err != nil {
		t.Errorf("Return() = %v, %v", done, err)
	}
	want(t, store, 10, 51)
	counters, err := store.List(t.Context())
	if err != nil || len(counters) != 1 || counters[0].Next != 61 || counters[0].Step != 10 {
		t.Errorf("List() = %+v, %v, want the next id 61, and the step 10", counters, err)
	}
}
