//go:build linux

package stores_test

import (
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// dropper forwards connections to a server until they are dropped: then it takes what is
// sent, and says nothing.
type dropper struct{ accepted, dropped atomic.Int64 } // counts of connections

// drop drops all connections, and those that come until heal.
func (d *dropper) drop() { d.dropped.Store(math.MaxInt64) }

// heal has later connections forwarded.
func (d *dropper) heal() { d.dropped.Store(d.accepted.Load()) }

func (d *dropper) serve(t *testing.T, server string) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			number := d.accepted.Add(1)
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			t.Cleanup(func() { client.Close(); upstream.Close() })
			forward := func(to io.Writer, from io.Reader) {
				part := make([]byte, 32<<10)
				for {
					n, err := from.Read(part)
					if number > d.dropped.Load() {
						_, _ = to.Write(part[:n])
					}
					if err != nil {
						return
					}
				}
			}
			go forward(upstream, client)
			go forward(client, upstream)
		}
	}()
	return listener.Addr().String()
}

// A connection that a network drops without a notice is given up, and so are those that
// are made meanwhile. When the network is back, the number is renewed.
func TestDroppedSilently(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (server string){
		"etcd": func(t *testing.T) string {
			return strings.TrimPrefix(servertest.StartEtcd(t, 1)[0].Endpoint, "http://")
		},
		"redis": func(t *testing.T) string { return servertest.StartRedis(t).Address() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := new(dropper)
			d.test(t, name+"://"+d.serve(t, start(t)), 2)
		})
	}
}

// The same of ZooKeeper, whose client waits a minute for the first answer by itself.
func TestZooKeeperDroppedSilently(t *testing.T) {
	t.Parallel()
	d := new(dropper)
	d.test(t, "zk://"+d.serve(t, servertest.StartZooKeeper(t, 1, nil)[0].Address)+"?timeout=2s", 4)
}

// The same of Kubernetes.
func TestKubeDroppedSilently(t *testing.T) {
	k, d := servertest.StartKube(t), new(dropper)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := servertest.Kubeconfig("https://"+d.serve(t, k.Address), k.CA(), servertest.KubeAdmin, "default")
	need.Must(t, os.WriteFile(config, []byte(text), 0o600))
	d.test(t, "kube://?kubeconfig="+config, 2)
}

// test drops the connections of a holder, and heals them after some more were tried.
func (d *dropper) test(t *testing.T, dsn string, tries int64) {
	open, err := stores.At(dsn, "test").Leases(t.Context(), lease.Config{Expiry: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	need.Must(t, err)
	defer open.Close()
	grants := make(chan lease.Grant, 1000)
	held, err := open.Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(g lease.Grant) { grants <- g }})
	need.Must(t, err)
	defer held.Release(t.Context(), time.Now())
	await := func(matches func(lease.Grant) bool) lease.Grant {
		for g := range grants {
			if matches(g) {
				return g
			}
		}
		panic("never closed")
	}
	until := await(func(g lease.Grant) bool { return g.Held }).Until
	before := d.accepted.Load()
	d.drop()
	await(func(g lease.Grant) bool { return g.Err != nil })
	servertest.Eventually(t, "connections are tried", func() bool { return d.accepted.Load() >= before+tries })
	d.heal()
	healed := d.accepted.Load()
	held.Use(until, until)
	await(func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
	if more := d.accepted.Load() - healed; more > 5 {
		t.Errorf("renewed after %d more connections", more)
	}
}
