//go:build linux

package segmentredis_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

var prefixes atomic.Int64

func TestConformance(t *testing.T) {
	s := start(t)
	segmenttest.Run(t, func(t *testing.T) segmenttest.Backend {
		prefix := fmt.Sprintf("{test %d}:segments", prefixes.Add(1))
		with := segmentredis.WithPrefix(prefix)
		quiet := segmentredis.WithLogger(slog.New(slog.DiscardHandler))
		operator := s.client(t)
		return segmenttest.Backend{
			Address: s.Address() + " " + prefix,
			Store:   func(t *testing.T) segment.Store { return segmentredis.New(s.client(t), with, quiet) },
			Set: func(t *testing.T, tag string, next int64) {
				must(t, operator.HSet(t.Context(), prefix+":next", tag, next).Err())
				must(t, operator.HSet(t.Context(), prefix+":tags", tag, fmt.Sprint(next, 10, 0)).Err())
			},
			Delete: func(t *testing.T, tag string) {
				must(t, operator.HDel(t.Context(), prefix+":next", tag).Err())
				must(t, operator.HDel(t.Context(), prefix+":tags", tag).Err())
			},
			Faulty: func(t *testing.T) (segment.Store, segmenttest.Faults) {
				client, wire := s.wired(t)
				return segmentredis.New(client, with, quiet), wire.faults()
			},
		}
	})
}

const (
	next = segmentredis.DefaultPrefix + ":next"
	tags = segmentredis.DefaultPrefix + ":tags"
)

// open returns a store on client with the counter orders, of which 100 ids are
// reserved.
func open(t *testing.T, client redis.UniversalClient) *segmentredis.Store {
	t.Helper()
	s := segmentredis.New(client, segmentredis.WithLogger(slog.New(slog.DiscardHandler)))
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

// A counter of which a part is gone, or that is not what it was, is refused, and so
// is one that is gone. Nobody starts it again. An operator can raise it.
func TestVanished(t *testing.T) {
	s := start(t)
	for name, c := range map[string]struct {
		commands string
		refusal  error
		mended   int64
	}{
		"counter deleted":   {"DEL " + next, segment.ErrRewound, 101},
		"counter expired":   {"PEXPIREAT " + next + " 1", segment.ErrRewound, 101},
		"counter set back":  {"HSET " + next + " orders 50", segment.ErrRewound, 101},
		"counter is a word": {"HSET " + next + " orders many", segment.ErrRewound, 101},
		"maximum deleted":   {"DEL " + tags, segment.ErrRewound, 101},
		"maximum odd":       {"HSET " + tags + " orders many", segment.ErrRewound, 101},
		"set ahead":         {"HSET " + next + " orders 1000", nil, 1005},
		"flushed":           {"FLUSHALL", segment.ErrUnknownTag, 0},
		"evicted": {
			"CONFIG SET maxmemory-policy allkeys-random\nCONFIG SET maxmemory 1\nSET a b\nCONFIG SET maxmemory 0\nCONFIG SET maxmemory-policy noeviction",
			segment.ErrUnknownTag, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := s.client(t)
			do(t, client, "FLUSHALL")
			store := open(t, client)
			do(t, client, strings.Split(c.commands, "\n")...)
			f, n, err := store.Reserve(t.Context(), "orders", 5)
			if !errors.Is(err, c.refusal) {
				t.Fatalf("Reserve() = %d, %d, %v, want %v", f, n, err, c.refusal)
			}
			counters, err := store.List(t.Context())
			if c.mended != 0 && (err != nil || len(counters) != 1 || counters[0].Next != c.mended) {
				t.Errorf("List() = %+v, %v, want what Raise will begin with, %d", counters, err, c.mended)
			}
			now, err := store.Raise(t.Context(), "orders", 20)
			if c.mended == 0 {
				if !errors.Is(err, segment.ErrUnknownTag) {
					t.Errorf("Raise() = %d, %v, want ErrUnknownTag", now, err)
				}
				return
			}
			if now != c.mended || err != nil {
				t.Errorf("Raise() = %d, %v, want %d", now, err, c.mended)
			}
			want(t, store, 1, c.mended)
		})
	}
}

// A generator whose counter has vanished goes on to the end of what it loaded, and
// says that the store has gone back.
func TestVanishedUnderGenerator(t *testing.T) {
	client := start(t).client(t)
	store := open(t, client)
	gen, err := segment.New(t.Context(), store, "orders", segment.Config{Create: true})
	must(t, err)
	defer gen.Close()
	do(t, client, "DEL "+next)
	last := uid.ID(100)
	for {
		id, err := gen.Next()
		if err != nil {
			if !errors.Is(err, segment.ErrRewound) || errors.Is(err, segment.ErrAway) {
				t.Errorf("Next() = %v, want ErrRewound", err)
			}
			break
		}
		if id != last+1 {
			t.Fatalf("id %d after %d", id, last)
		}
		last = id
	}
	must(t, gen.Close())
	if n := client.Exists(t.Context(), next).Val(); n != 0 {
		t.Error("the counter is back")
	}
}

// A server that is killed forgets nothing with always. (With everysec it can answer
// before it writes, while a flush is under way.)
func TestKilled(t *testing.T) {
	s := start(t, servertest.Durable...)
	store := open(t, s.client(t))
	for first := int64(101); first < 131; first += 10 {
		want(t, store, 10, first)
		s.Kill()
		if f, n, err := store.Reserve(t.Context(), "orders", 10); err == nil {
			t.Fatalf("Reserve() = %d, %d without a server", f, n)
		}
		s.Restart(t)
	}
}

func TestReplica(t *testing.T) {
	master := start(t)
	open(t, master.client(t))
	host, port, _ := strings.Cut(master.Address(), ":")
	for _, readOnly := range []string{"yes", "no"} {
		client := start(t, "--replicaof", host+" "+port, "--replica-read-only", readOnly).client(t)
		store := segmentredis.New(client)
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		_, listed := store.List(t.Context())
		for _, err := range []error{err, listed, store.Create(t.Context(), "invoices", 1, 1)} {
			if !errors.Is(err, segmentredis.ErrReplica) {
				t.Errorf("replica-read-only %s: %v, want ErrReplica", readOnly, err)
			}
		}
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
}

func TestWarning(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{servertest.Durable, ""},
		{nil, "appendonly no"},
		{[]string{"--appendonly", "yes"}, "appendfsync everysec"},
		{append([]string{"--maxmemory-policy", "allkeys-lru"}, servertest.Durable...), "maxmemory-policy allkeys-lru"},
		{append([]string{"--rename-command", "CONFIG", "hidden"}, servertest.Durable...), "not shown"},
	} {
		var log bytes.Buffer
		store := segmentredis.New(start(t, c.args...).client(t), segmentredis.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		for range 2 {
			_, _, _ = store.Reserve(t.Context(), "orders", 1)
		}
		if c.want == "" && log.Len() > 0 || strings.Count(log.String(), "\n") > 1 || !strings.Contains(log.String(), c.want) {
			t.Errorf("%v: logged %s, want once %q", c.args, &log, c.want)
		}
	}
}

func TestUnusable(t *testing.T) {
	var none *redis.Client
	ring := redis.NewRing(&redis.RingOptions{HeartbeatFrequency: 1 << 40})
	defer ring.Close()
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	for name, store := range map[string]*segmentredis.Store{
		"the client is nil":   segmentredis.New(none),
		"*redis.Ring":         segmentredis.New(ring),
		`prefix "orders"`:     segmentredis.New(client, segmentredis.WithPrefix("orders")),
		`prefix "{}{orders}"`: segmentredis.New(client, segmentredis.WithPrefix("{}{orders}")),
	} {
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		if !errors.Is(err, segmentredis.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("Reserve() = %v, want ErrConfig that names %s", err, name)
		}
	}
	store := segmentredis.New(client)
	for _, err := range []error{
		store.Create(t.Context(), "", 1, 1),
		store.Create(t.Context(), "orders", 0, 1),
		store.Create(t.Context(), "orders", 1, 0),
		second(store.Return(t.Context(), "orders", 5, 5)),
		second(store.Return(t.Context(), "orders", 0, 5)),
	} {
		if err == nil || strings.Contains(err.Error(), "dial") {
			t.Errorf("%v, want an error about the arguments", err)
		}
	}
}

func second(_ bool, err error) error { return err }
