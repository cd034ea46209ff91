//go:build linux

package segmentredis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
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
		config := segmentredis.Config{Prefix: prefix, Logger: slog.New(slog.DiscardHandler)}
		operator := s.client(t)
		return segmenttest.Backend{
			Address: s.Address() + " " + prefix,
			Store:   func(t *testing.T) segment.Store { return segmentredis.New(s.client(t), config) },
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
				return segmentredis.New(client, config), wire.faults()
			},
		}
	})
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
			if c.mended != 0 && (err != nil || len(counters) != 1 || counters[0].Tag != "orders" || counters[0].Next != c.mended) {
				t.Errorf("List() = %+v, %v, want what Raise will begin with, %d", counters, err, c.mended)
			}
			// Create makes no counter anew of which a part is left.
			if err := store.Create(t.Context(), "orders", 1, 10); c.mended != 0 && !errors.Is(err, segment.ErrTagExists) {
				t.Errorf("Create() = %v, want ErrTagExists", err)
			} else if c.mended == 0 {
				must(t, err)
				do(t, client, "FLUSHALL")
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
			if !errors.Is(err, segment.ErrRewound) || errors.Is(err, segment.ErrUnavailable) {
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
		store := segmentredis.New(client, segmentredis.Config{})
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		_, listed := store.List(t.Context())
		_, raised := store.Raise(t.Context(), "orders", 1000)
		returned := second(store.Return(t.Context(), "orders", 51, 101))
		for _, err := range []error{err, listed, raised, returned, store.Create(t.Context(), "invoices", 1, 1)} {
			if !errors.Is(err, segmentredis.ErrReplica) {
				t.Errorf("replica-read-only %s: %v, want ErrReplica", readOnly, err)
			}
		}
	}
}

// readOnly is the reply of a server that became a replica.
type readOnly struct{}

func (readOnly) Error() string { return "READONLY You can't write against a read only replica." }
func (readOnly) RedisError()   {}

func (readOnly) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r readOnly) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(context.Context, redis.Cmder) error { return r }
}

func (r readOnly) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return r }
}

// A write that a replica refuses by itself is no other error than that of a script.
func TestReadOnly(t *testing.T) {
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	client.AddHook(readOnly{})
	_, _, err := segmentredis.New(client, segmentredis.Config{Logger: slog.New(slog.DiscardHandler)}).Reserve(t.Context(), "orders", 1)
	if !errors.Is(err, segmentredis.ErrReplica) || !errors.Is(err, readOnly{}) {
		t.Errorf("Reserve() = %v, want ErrReplica and the server's reply", err)
	}
}

// replies answers each script.
type replies struct {
	readOnly
	reply any
}

func (r replies) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		if script, ok := cmd.(interface{ SetVal(val any) }); ok { // the settings have another type
			script.SetVal(r.reply)
		}
		return nil
	}
}

// An answer that is no script's is an error that names the store.
func TestOddAnswers(t *testing.T) {
	for _, reply := range []any{[]any{}, []any{"done"}, []any{"done", "x", "1"}, []any{"done", "1", "x"}} {
		client := redis.NewClient(&redis.Options{})
		defer client.Close()
		client.AddHook(replies{reply: reply})
		store := segmentredis.New(client, segmentredis.Config{Logger: slog.New(slog.DiscardHandler)})
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		_, raised := store.Raise(t.Context(), "orders", 1)
		if !errors.Is(err, segment.ErrUnusable) || !strings.Contains(err.Error(), "redis {uidring}:segments answered") {
			t.Errorf("%q: Reserve() = %v, want ErrUnusable", reply, err)
		}
		if number := len(reply.([]any)) == 3 && reply.([]any)[1] == "1"; errors.Is(raised, segment.ErrUnusable) == number {
			t.Errorf("%q: Raise() = %v", reply, raised)
		}
	}
}

// A counter that is below its record takes no range back: the record shows that it was set
// back, until an operator raises it.
func TestReturnBelowRecord(t *testing.T) {
	client := start(t).client(t)
	store := open(t, client)
	must(t, client.HSet(t.Context(), tags, "orders", "200 10 0").Err())
	if done, err := store.Return(t.Context(), "orders", 51, 101); done || err != nil {
		t.Errorf("Return() = %t, %v, want it refused", done, err)
	}
	if _, _, err := store.Reserve(t.Context(), "orders", 1); !errors.Is(err, segment.ErrRewound) {
		t.Errorf("Reserve() = %v, want ErrRewound", err)
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
	if err != nil || len(counters) != 1 || time.Since(counters[0].Updated).Abs() > time.Hour {
		t.Fatalf("List() = %+v, %v", counters, err)
	}
	if c := counters[0]; c.Tag != "orders" || c.Next != 61 || c.Step != 10 {
		t.Errorf("List() = %+v, want the next id 61, and the step 10", c)
	}
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
		{append([]string{"--rename-command", "INFO", "hidden"}, servertest.Durable...), "not shown"},
	} {
		var log logged.Text
		store := segmentredis.New(start(t, c.args...).client(t), segmentredis.Config{Logger: log.Logger()})
		_, _, _ = store.Reserve(t.Context(), "orders", 1)
		if c.want != "" {
			servertest.Eventually(t, "a warning", func() bool { return log.String() != "" })
		}
		_, _, _ = store.Reserve(t.Context(), "orders", 1)
		if got := log.String(); c.want == "" && got != "" || strings.Count(got, "\n") > 1 || !strings.Contains(got, c.want) {
			t.Errorf("%v: logged %s, want once %q", c.args, got, c.want)
		}
	}
}

// A server with replicas is warned of, since a failover undoes writes. A server that was
// unavailable is asked for its settings later.
func TestWarningLater(t *testing.T) {
	s := start(t, servertest.Durable...)
	host, port, _ := strings.Cut(s.Address(), ":")
	start(t, "--replicaof", host+" "+port)
	operator := s.client(t)
	servertest.Eventually(t, "the replica", func() bool {
		return strings.Contains(operator.Info(t.Context(), "replication").Val(), "connected_slaves:1")
	})
	var log logged.Text
	client, wire := s.wired(t)
	store := segmentredis.New(client, segmentredis.Config{Logger: log.Logger()})
	wire.set(func() { wire.cut = true })
	if _, _, err := store.Reserve(t.Context(), "orders", 1); err == nil || errors.Is(err, segment.ErrUnknownTag) {
		t.Errorf("Reserve() = %v of a server that is unavailable", err)
	}
	wire.set(func() { wire.cut = false })
	_, _, _ = store.Reserve(t.Context(), "orders", 1)
	servertest.Eventually(t, "a warning", func() bool { return log.Count("replicas, and a failover") == 1 })
}

// What is wrong with a counter is an error that names it, and not that the server is unavailable.
func TestWrongCounter(t *testing.T) {
	client := start(t).client(t)
	store := open(t, client)
	must(t, store.Create(t.Context(), "last", 1<<62, 1<<62))
	wantErr := func(what string, err, want error, text string) {
		t.Helper()
		if !errors.Is(err, want) || errors.Is(err, segment.ErrUnavailable) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %v with %q", what, err, want, text)
		}
	}
	_, _, err := store.Reserve(t.Context(), "last", 0)
	wantErr("a step beyond the end", err, segment.ErrUsedUp, "too high for 4611686018427387904 more")
	if _, _, err = store.Reserve(t.Context(), "orders", -1); err == nil || !strings.Contains(err.Error(), "-1 ids") {
		t.Errorf("Reserve(-1) = %v", err)
	}
	do(t, client, "CONFIG SET maxmemory 1")
	_, _, err = store.Reserve(t.Context(), "orders", 1)
	if do(t, client, "CONFIG SET maxmemory 0"); err == nil || errors.Is(err, segment.ErrUsedUp) || errors.Is(err, segment.ErrUnusable) {
		t.Errorf("without memory: %v, want that of the server", err)
	}
	do(t, client, "DEL "+next, "SET "+next+" 5")
	_, err = segment.New(t.Context(), segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
	wantErr("a key that is no hash", err, segment.ErrUnusable, "WRONGTYPE")
	_, _, err = store.Reserve(t.Context(), "orders", 1)
	wantErr("a key that is no hash", err, segment.ErrUnusable, `"orders" in redis`)
	_, err = segment.New(t.Context(), segmentredis.New(nil, segmentredis.Config{}), "orders", segment.Config{})
	wantErr("no client", err, segment.ErrConfig, "client is nil")
	var log logged.Text
	do(t, client, "DEL "+next+" "+tags, "HSET "+next+" orders 77")
	store = segmentredis.New(client, segmentredis.Config{Logger: log.Logger()})
	if now, err := store.Raise(t.Context(), "orders", 1); now != 77 || err != nil {
		t.Errorf("Raise() = %d, %v, want 77", now, err)
	}
	servertest.Eventually(t, "a warning", func() bool { return log.Count("record of a counter was lost", "step=1000") == 1 })
	for _, commands := range [][]string{nil, {"DEL " + tags}} { // the first loses nothing
		do(t, client, commands...)
		_, err := store.Raise(t.Context(), "orders", 78)
		must(t, err)
	}
	servertest.Eventually(t, "another warning", func() bool { return log.Count("record of a counter was lost", "step=1000") == 2 })
	if log.Count("") != 2 {
		t.Errorf("logged %s, want two warnings", &log)
	}

	// Raise keeps the step of a record, and no number is low enough to lower a counter.
	must(t, store.Create(t.Context(), "parcels", 77, 7))
	for _, least := range []int64{80, math.MinInt64} {
		if now, err := store.Raise(t.Context(), "parcels", least); now != 80 || err != nil {
			t.Errorf("Raise(%d) = %d, %v, want 80", least, now, err)
		}
	}
	if first, n, err := store.Reserve(t.Context(), "parcels", 0); first != 80 || n != 7 || err != nil {
		t.Errorf("Reserve() = %d, %d, %v, want the step 7", first, n, err)
	}
}

func TestUnusable(t *testing.T) {
	var none *redis.Client
	ring := redis.NewRing(&redis.RingOptions{HeartbeatFrequency: 1 << 40})
	defer ring.Close()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer client.Close()
	for name, store := range map[string]*segmentredis.Store{
		"client is nil":          segmentredis.New(none, segmentredis.Config{}),
		"*redis.Ring":            segmentredis.New(ring, segmentredis.Config{}),
		`Prefix is "orders"`:     segmentredis.New(client, segmentredis.Config{Prefix: "orders"}),
		`Prefix is "{}{orders}"`: segmentredis.New(client, segmentredis.Config{Prefix: "{}{orders}"}),
	} {
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		if !errors.Is(err, segment.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("Reserve() = %v, want ErrConfig that names %s", err, name)
		}
	}
	store := segmentredis.New(client, segmentredis.Config{})
	for _, err := range []error{
		store.Create(t.Context(), "", 1, 1),
		store.Create(t.Context(), "orders", 0, 1),
		store.Create(t.Context(), "orders", 1, 0),
		second(store.Return(t.Context(), "orders", 5, 5)),
		second(store.Return(t.Context(), "orders", 0, 5)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "segment") {
			t.Errorf("%v, want an error about the arguments", err)
		}
	}
}

// second returns the error of a call that did nothing.
func second(done bool, err error) error {
	if done {
		return nil
	}
	return err
}
