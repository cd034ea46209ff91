//go:build linux

package stores_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// give takes a number from a store, lists it, frees it, and gives it back, on
// connections of their own.
func give(t *testing.T, dsn string) {
	t.Helper()
	open := at(t, dsn)
	defer closes(t, open)
	held, err := open.Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
	need.Must(t, err)
	again := at(t, dsn)
	defer closes(t, again)
	rows, err := again.Leases(t.Context(), 0)
	if err != nil || len(rows) == 0 || rows[0].State != lease.StateHeld {
		t.Fatalf("%+v, %v; want a number that is held", rows, err)
	}
	number := rows[0].Number
	need.Error(t, again.Free(t.Context(), number), lease.ErrHeld)
	need.Must(t, again.Revoke(t.Context(), number))
	if rows, err := again.Leases(t.Context(), 0); err != nil || rows[0].State != lease.StateFree {
		t.Errorf("%+v, %v; want it free", rows, err)
	}
	_ = held.Release(t.Context(), time.Now()) // the number is lost
}

func at(t *testing.T, dsn string) *database.Leases {
	t.Helper()
	node := lease.Config{Node: lease.Node{Host: "here", Port: "1", Type: lease.NodeActual}}
	open, err := stores.At(dsn, "the test").Leases(t.Context(), node)
	need.Must(t, err)
	return open
}

func closes(t *testing.T, open *database.Leases) {
	t.Helper()
	need.Must(t, open.Close())
}

// refused opens a store that does not open. The error has texts, and no secret.
func refused(t *testing.T, dsn string, texts ...string) {
	t.Helper()
	open, err := stores.At(dsn, "the test").Leases(t.Context(), lease.Config{})
	if err == nil {
		closes(t, open)
		t.Fatalf("%s opens", dsn)
	}
	if text := err.Error(); !strings.Contains(text, " (the test): ") && !strings.HasPrefix(text, "the test: ") {
		t.Errorf("%v, want who named the store", err)
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("%v shows a password", err)
	}
	need.Error(t, err, nil, texts...)
}

func TestEtcd(t *testing.T) {
	host := servertest.StartEtcd(t, 1)[0].Address
	give(t, "etcd://"+host)
	give(t, "etcd://"+servertest.Addresses(t, 1)[0]+","+host+"/other") // a member may be unavailable

	secure, options := front(t, host)
	give(t, "etcd://"+secure+"/secure?"+options.Encode())
	options.Set("timeout", "300ms")
	options.Del("ca") // the system's authorities do not know it
	refused(t, "etcd://"+secure+"?"+options.Encode())
	refused(t, "etcd://"+secure+"?timeout=300ms")
}

func TestRedis(t *testing.T) {
	args := append([]string{"--requirepass", "secret", "--user"}, strings.Fields("ids on >secret "+workerredis.ACL("{ids}:workers"))...)
	single := servertest.StartRedis(t, append(args, servertest.Durable...)...)
	give(t, "redis://ids:secret@"+single.Address()+"?prefix="+url.QueryEscape("{ids}:workers"))
	give(t, "redis://:secret@"+single.Address()+"/3")
	give(t, "redis://default:secret@"+single.Address()+"?prefix="+url.QueryEscape("{other}"))
	refused(t, "redis://:wrong@"+single.Address(), "WRONGPASS")
	host, options := front(t, single.Address())
	give(t, "rediss://:secret@"+host+"?"+options.Encode())
	options.Del("ca")
	refused(t, "rediss://:secret@"+host+"?"+options.Encode(), "certificate")
}

func TestRedisCluster(t *testing.T) {
	node := servertest.StartRedis(t, append([]string{"--cluster-enabled", "yes"}, servertest.Durable...)...)
	node.Command(t, "CLUSTER ADDSLOTSRANGE 0 16383")
	servertest.Eventually(t, "the cluster is up", func() bool { return strings.Contains(node.Command(t, "CLUSTER INFO"), "cluster_state:ok") })
	give(t, "redis://"+node.Address()+"?cluster=true")
	give(t, "redis://"+node.Address()+","+servertest.Addresses(t, 1)[0]) // a node may be unavailable
}

func TestRedisSentinel(t *testing.T) {
	master := servertest.StartRedis(t, append([]string{"--requirepass", "secret"}, servertest.Durable...)...)
	host, port, _ := net.SplitHostPort(master.Address())
	config := t.TempDir() + "/sentinel.conf"
	need.Must(t, os.WriteFile(config, []byte("sentinel monitor ids "+host+" "+port+" 1\nsentinel auth-pass ids secret\n"), 0o600))
	sentinel := servertest.StartRedis(t, config, "--sentinel")
	give(t, "redis://"+sentinel.Address()+"?master_name=ids&password=secret")
	refused(t, "redis://"+sentinel.Address()+"?master_name=others&password=secret")
}

func TestZooKeeper(t *testing.T) {
	host := servertest.StartZooKeeper(t, 1, nil)[0].Address
	give(t, "zk://"+host)
	give(t, "zk://"+servertest.Addresses(t, 1)[0]+","+host+"/chroot/ids") // a member may be unavailable
	give(t, "zk://ids:secret@"+host+"/private?session=2s")
	give(t, "zk://ids:secret@"+host+"/private")
	other := at(t, "zk://ids:wrong@"+host+"/private")
	defer closes(t, other)
	_, err := other.Leases(t.Context(), 0)
	need.Error(t, err, nil, "not authenticated; the user needs cdrw")

	secure, options := front(t, host)
	give(t, "zk://"+secure+"/secure?"+options.Encode())
	options.Set("timeout", "300ms")
	options.Del("ca")
	refused(t, "zk://"+secure+"?"+options.Encode())
}

// A server that is unavailable, or is another kind of store, causes an error in time.
func TestUnavailable(t *testing.T) {
	nobody := servertest.Addresses(t, 1)[0]
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	need.Must(t, err)
	defer silent.Close()
	for _, scheme := range []string{"etcd", "redis", "zk"} {
		refused(t, scheme+"://user:secret@"+nobody, "connection refused")
		refused(t, scheme+"://user:secret@"+silent.Addr().String()+"?timeout=200ms", "no answer within 200ms")
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("stopped")
		cancel(cause)
		_, err := stores.At(scheme+"://"+nobody, "the test").Leases(ctx, lease.Config{})
		need.Error(t, err, cause)
	}
}
