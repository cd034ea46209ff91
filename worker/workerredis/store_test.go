//go:build linux

package workerredis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerredis"
)

var must = need.Must

// soon has a replica synchronized without waiting for others.
var soon = []string{"--repl-diskless-sync-delay", "0"}

// server is a Redis.
type server struct{ *servertest.Redis }

// start starts a Redis on a new directory.
func start(t *testing.T, args ...string) server {
	t.Helper()
	return server{servertest.StartRedis(t, args...)}
}

// replica starts a replica that has the rows of s.
func (s server) replica(t *testing.T, args ...string) (server, *redis.Client) {
	t.Helper()
	replica := start(t, append(args, "--replicaof", strings.Replace(s.Address(), ":", " ", 1))...)
	client := replica.client(t)
	servertest.Eventually(t, "it has the rows", func() bool { return client.Exists(t.Context(), workerredis.DefaultPrefix+":numbers").Val() == 1 })
	return replica, client
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
func take(t *testing.T, client redis.UniversalClient, opts ...lease.Config) *holdertest.Holder {
	t.Helper()
	return holdertest.Take(t, workerredis.NewLeaser(client, holdertest.Merge(append([]lease.Config{{Expiry: 200 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}}}, opts...)...)), 1023)
}

var request = lease.Request{Limit: holdertest.Range.To, Clock: time.Now, Granted: func(lease.Grant) {}}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hook stands before the commands of a client.
type hook func(next redis.ProcessHook) redis.ProcessHook

func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return h(next) }

func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// counts is a hook that counts commands.
func counts(n *atomic.Int64) hook {
	return func(next redis.ProcessHook) redis.ProcessHook {
		return func(ctx context.Context, cmd redis.Cmder) error {
			n.Add(1)
			return next(ctx, cmd)
		}
	}
}

func TestSuite(t *testing.T) {
	single, cluster := start(t), start(t, "--cluster-enabled", "yes")
	cluster.Command(t, "CLUSTER ADDSLOTSRANGE 0 16383")
	cluster.up(t)
	for name, client := range map[string]func(*testing.T) redis.UniversalClient{
		"server":  func(t *testing.T) redis.UniversalClient { return single.client(t) },
		"cluster": func(t *testing.T) redis.UniversalClient { return cluster.cluster(t) },
	} {
		t.Run(name, func(t *testing.T) {
			var sent sync.Map // by the store's name
			leasetest.Suite{
				Open: func(t *testing.T) leasetest.Opener {
					prefix, count := "{"+t.Name()+"}", new(atomic.Int64)
					sent.Store("redis "+prefix, count)
					return func(t *testing.T) leasestore.Store {
						c := client(t)
						c.AddHook(counts(count))
						return workerredis.NewStore(c, workerredis.Config{Prefix: prefix})
					}
				},
				Delete: func(t *testing.T, s leasestore.Store, number int64) {
					must(t, client(t).HDel(t.Context(), strings.TrimPrefix(s.String(), "redis ")+":numbers", fmt.Sprintf("%019d", number)).Err())
				},
				Requests: func(_ *testing.T, s leasestore.Store) int64 {
					count, _ := sent.Load(s.String())
					return count.(*atomic.Int64).Load()
				},
			}.Run(t)
		})
	}
}

// up waits until the server's cluster is up.
func (s server) up(t *testing.T) {
	t.Helper()
	servertest.Eventually(t, "the cluster is up", func() bool { return strings.Contains(s.Command(t, "CLUSTER INFO"), "cluster_state:ok") })
}

func (s server) cluster(t *testing.T) *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Address()}})
	t.Cleanup(func() { client.Close() })
	return client
}

// In a cluster, the settings of the server with the keys count.
func TestWarningOfCluster(t *testing.T) {
	args := append([]string{"--cluster-enabled", "yes"}, servertest.Durable...)
	keys, others := start(t, args...), start(t, args...)
	slot, err := keys.client(t).ClusterKeySlot(t.Context(), workerredis.DefaultPrefix).Result()
	must(t, err)
	keys.Command(t, fmt.Sprint("CLUSTER ADDSLOTS ", slot))
	others.Command(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE 0 %d %d 16383", slot-1, slot+1))
	others.Command(t, "CONFIG SET appendfsync no")
	keys.Command(t, "CLUSTER MEET "+strings.Replace(others.Address(), ":", " ", 1))
	keys.up(t)
	others.up(t)
	warnings := func() int {
		var out logged.Text
		must(t, workerredis.NewStore(keys.cluster(t), workerredis.Config{}).Prepare(t.Context(), out.Logger()))
		return out.Count("level=WARN")
	}
	if n := warnings(); n != 0 {
		t.Errorf("%d warnings of a server that has no key", n)
	}
	keys.Command(t, "CONFIG SET appendfsync no")
	if n := warnings(); n != 1 {
		t.Errorf("%d warnings of the server with the keys", n)
	}
}

// The expiry ends with its last millisecond, by the server's clock.
func TestExpiryEnds(t *testing.T) {
	read := func(reply ...any) (*leasestore.Row, error) {
		client := redis.NewClient(&redis.Options{})
		defer client.Close()
		client.AddHook(hook(func(redis.ProcessHook) redis.ProcessHook {
			return func(_ context.Context, cmd redis.Cmder) error {
				cmd.(*redis.Cmd).SetVal(reply)
				return nil
			}
		}))
		row, _, err := workerredis.NewStore(client, workerredis.Config{}).Read(t.Context(), 7, time.Hour)
		return row, err
	}
	for now, want := range map[int64]leasestore.State{3600999: leasestore.StateHeld, 3601000: leasestore.StateExpired} {
		row, err := read(now, []any{"7", `{"token":"a","reserved_until":"1","heartbeat":"1000","created":"1","type":"1"}`}, []any{})
		if err != nil || row == nil || row.State != want {
			t.Errorf("at %d: %+v, %v; want the state %v", now, row, err, want)
		}
	}
	_, err := read("x")
	need.Error(t, err, nil, "answered [x]")
}

// What the client sends again, for want of an answer, was done all the same.
func TestSentAgain(t *testing.T) {
	store := workerredis.NewStore(start(t).client(t), workerredis.Config{})
	for range 2 {
		holdertest.Inserts(t, store, holdertest.Write(0, "first"), 0)
	}
	for range 2 {
		holdertest.Swaps(t, store, "first", holdertest.Write(0, "second"), true)
	}
	holdertest.Swaps(t, store, "first", holdertest.Write(0, "third"), false)
}

// A replica is refused, whether or not it can be written to.
func TestReplica(t *testing.T) {
	master := start(t, soon...)
	take(t, master.client(t))
	for _, readOnly := range []string{"yes", "no"} {
		_, client := master.replica(t, "--replica-read-only", readOnly)
		store := workerredis.NewStore(client, workerredis.Config{})
		_, _, read := store.Read(t.Context(), 0, time.Hour)
		_, look := store.Look(t.Context(), holdertest.Range, true, time.Hour)
		_, _, insert := store.Insert(t.Context(), holdertest.Write(7, "a"))
		for _, err := range []error{read, look, insert} {
			need.Error(t, err, workerredis.ErrReplica)
		}
		_, err := workerredis.NewLeaser(client, lease.Config{}).Leases(t.Context(), 0)
		need.Error(t, err, workerredis.ErrReplica, "redis "+workerredis.DefaultPrefix)
	}
}

// A server that hangs holds nobody up beyond its context. It is in virtual time.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
		defer client.Close()
		client.AddHook(hook(func(redis.ProcessHook) redis.ProcessHook {
			return func(context.Context, redis.Cmder) error { // whatever its context
				time.Sleep(time.Hour)
				return nil
			}
		}))
		store := workerredis.NewStore(client, workerredis.Config{})
		leaser := lease.New(store, lease.Config{})
		for name, method := range map[string]func(ctx context.Context) (any, error){
			"Lease": func(ctx context.Context) (any, error) { return leaser.Lease(ctx, request) },
			"List":  func(ctx context.Context) (any, error) { return store.List(ctx, 0, time.Hour) },
		} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := method(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v; want DeadlineExceeded after 1s", name, err, time.Since(began))
			}
		}
		time.Sleep(10 * time.Hour) // the client returns
	})
}

// A start says once which settings make the server forget.
func TestWarning(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string // empty is no warning
	}{
		"durable":      {servertest.Durable, ""},
		"no file":      {nil, "appendonly no"},
		"does not say": {append([]string{"--rename-command", "CONFIG", ""}, servertest.Durable...), "not shown"},
	} {
		t.Run(name, func(t *testing.T) {
			var out logged.Text
			store := workerredis.NewStore(start(t, test.args...).client(t), workerredis.Config{})
			for range 2 {
				gen, err := uid.NewCached(t.Context(), lease.New(store, lease.Config{Logger: out.Logger()}), uid.CachedConfig{})
				must(t, err)
				must(t, gen.Close())
			}
			want := 1
			if test.want == "" {
				want = 0
			}
			if out.Count("level=WARN") != want || out.Count(test.want) < want || out.Count("redis "+workerredis.DefaultPrefix) != want {
				t.Errorf("logged %s; want %q once", &out, test.want)
			}
		})
	}
}

// A user with the rights of ACL and no others can do all that a service does. An error about a missing
// right names them.
func TestPermissions(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	if !strings.Contains(strings.ReplaceAll(string(doc), "\n//\t ", ""), "ACL SETUSER ids on >secret "+workerredis.ACL("")+"\n") {
		t.Error("doc.go shows other rights")
	}
	for name, args := range map[string][]string{"server": nil, "cluster": {"--cluster-enabled", "yes"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, append(args, servertest.Durable...)...)
			if name == "cluster" {
				s.Command(t, "CLUSTER ADDSLOTSRANGE 0 16383")
				s.up(t)
			}
			s.Command(t, "ACL SETUSER ids on >secret "+workerredis.ACL(""))
			client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{s.Address()}, IsClusterMode: name == "cluster", Username: "ids", Password: "secret"})
			defer client.Close()
			lifecycle.Run(t, func(config lease.Config) *lease.Leaser { return workerredis.NewLeaser(client, config) })
			s.Command(t, "ACL SETUSER ids -hset")
			_, err := workerredis.NewLeaser(client, lease.Config{}).Lease(t.Context(), request)
			need.Error(t, err, nil, "the user needs "+workerredis.ACL(""))
		})
	}
}

// A value that is not a row is an error that names its key.
func TestForeignRows(t *testing.T) {
	client := start(t).client(t)
	store, ctx := workerredis.NewStore(client, workerredis.Config{}), t.Context()
	key := workerredis.DefaultPrefix + ":numbers"
	for _, value := range []string{"", "{}", "7", "nonsense", `{"token":"a","reserved_until":"x"}`} {
		must(t, client.HSet(ctx, key, fmt.Sprintf("%019d", 7), value).Err())
		_, _, read := store.Read(ctx, 7, time.Hour)
		_, look := store.Look(ctx, holdertest.Range, true, time.Hour)
		for _, err := range []error{read, look} {
			need.Error(t, err, nil, key)
		}
	}
	must(t, client.Del(ctx, key).Err())
	must(t, client.Set(ctx, key, "x", 0).Err())
	_, _, err := store.Read(ctx, 7, time.Hour)
	need.Error(t, err, nil, "WRONGTYPE")
}
