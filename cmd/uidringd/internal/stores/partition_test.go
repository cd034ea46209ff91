//go:build linux

package stores_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

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
			dropSilently(t, name+"://", start(t), "", 2)
		})
	}
}

// The same of ZooKeeper, whose client waits a minute for the first answer by itself.
func TestZooKeeperDroppedSilently(t *testing.T) {
	t.Parallel()
	dropSilently(t, "zk://", servertest.StartZooKeeper(t, 1, nil)[0].Address, "?timeout=2s", 10)
}

// The same of Kubernetes.
func TestKubeDroppedSilently(t *testing.T) {
	k := servertest.StartKube(t)
	link := servertest.NewLink(t, func() string { return k.Address })
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := servertest.Kubeconfig("https://"+link.Address(), k.CA(), servertest.KubeAdmin, "default")
	need.Must(t, os.WriteFile(config, []byte(text), 0o600))
	drop(t, link, "kube://?kubeconfig="+config, 2)
}

// dropSilently drops the link to a server, whose URL has a query.
func dropSilently(t *testing.T, scheme, server, query string, tries int) {
	link := servertest.NewLink(t, func() string { return server })
	drop(t, link, scheme+link.Address()+query, tries)
}

// drop has the link of a holder carry nothing, until some more connections were tried.
func drop(t *testing.T, link *servertest.Link, dsn string, tries int) {
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
	before := link.Accepted()
	link.Hang()
	await(func(g lease.Grant) bool { return g.Err != nil })
	servertest.Eventually(t, "connections are tried", func() bool { return link.Accepted() >= before+tries })
	need.Must(t, link.Mend())
	mended := link.Accepted()
	held.Use(until, until)
	await(func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
	if more := link.Accepted() - mended; more > 5 {
		t.Errorf("renewed after %d more connections", more)
	}
}
