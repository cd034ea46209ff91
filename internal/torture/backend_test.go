//go:build linux

package torture

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// backend is a store under torture.
type backend struct {
	name     string
	url      func(addresses []string) string
	servers  []*server  // none for SQLite
	proxies  [][]*proxy // of each seat, one to each server
	counters bool       // segments have a store there
}

// backends are the stores by name. Each function skips the test where the store is
// not installed.
var backends = []struct {
	name string
	open func(ctx context.Context, t *testing.T, dir string) *backend
}{
	{"sqlite", openSQLite},
	{"mariadb", openMariaDB},
	{"postgres", openPostgres},
	{"redis", startRedis},
	{"etcd", startEtcd},
	{"zookeeper", startZooKeeper},
}

// openSQLite has processes give up on a locked file sooner than they would by
// default, so that some are refused and not only held up.
func openSQLite(_ context.Context, _ *testing.T, dir string) *backend {
	url := filepath.Join(dir, "torture.db") + "?_busy_timeout=2000&_pragma=busy_timeout(2000)"
	return &backend{name: "sqlite", counters: true, url: func([]string) string { return url }}
}

func openMariaDB(ctx context.Context, t *testing.T, dir string) *backend {
	return startSQL(ctx, t, "mariadb", servertest.MariaDB(t, dir))
}

func openPostgres(ctx context.Context, t *testing.T, dir string) *backend {
	return startSQL(ctx, t, "postgres", servertest.Postgres(t, dir))
}

func startSQL(ctx context.Context, t *testing.T, name string, d servertest.Database) *backend {
	b := &backend{name: name, counters: true, url: func(a []string) string { return d.URL(a[0]) }}
	return b.serve(ctx, t, d.End, d.Command)
}

// startRedis starts a Redis that flushes each write before it answers.
func startRedis(ctx context.Context, t *testing.T, dir string) *backend {
	daemon := servertest.Find(t, "redis-server")
	b := &backend{name: "redis", counters: true, url: func(a []string) string { return "redis://" + a[0] }}
	return b.serve(ctx, t, syscall.SIGKILL, func(port string) *exec.Cmd {
		return exec.Command(daemon, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "",
			"--appendonly", "yes", "--appendfsync", "always")
	})
}

// members is how many servers of etcd and ZooKeeper there are: one can be away.
const members = 3

func startEtcd(ctx context.Context, t *testing.T, dir string) *backend {
	daemon, peers := servertest.Find(t, "etcd"), servertest.Addresses(t, members)
	var cluster []string
	for i, peer := range peers {
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peer))
	}
	var commands []func(string) *exec.Cmd
	for i, peer := range peers {
		commands = append(commands, func(port string) *exec.Cmd {
			client, own := "http://127.0.0.1:"+port, "http://"+peer
			return exec.Command(daemon, "--name", fmt.Sprintf("m%d", i), "--data-dir", filepath.Join(dir, fmt.Sprint(i)),
				"--initial-cluster", strings.Join(cluster, ","), "--listen-peer-urls", own, "--initial-advertise-peer-urls", own,
				"--listen-client-urls", client, "--advertise-client-urls", client)
		})
	}
	b := &backend{name: "etcd", url: func(a []string) string { return "etcd://" + strings.Join(a, ",") }}
	return b.serve(ctx, t, syscall.SIGKILL, commands...)
}

func startZooKeeper(ctx context.Context, t *testing.T, dir string) *backend {
	jars, err := servertest.Classpath()
	if err != nil {
		t.Skip(err)
	}
	quorums, elections := servertest.Addresses(t, members), servertest.Addresses(t, members)
	var peers strings.Builder
	for i := range members {
		_, election, _ := net.SplitHostPort(elections[i])
		fmt.Fprintf(&peers, "server.%d=%s:%s\n", i, quorums[i], election)
	}
	var commands []func(string) *exec.Cmd
	for i := range members {
		folder := filepath.Join(dir, fmt.Sprint(i))
		must(t, os.Mkdir(folder, 0o700))
		must(t, os.WriteFile(filepath.Join(folder, "myid"), []byte(fmt.Sprint(i)), 0o600))
		commands = append(commands, func(port string) *exec.Cmd {
			config := filepath.Join(folder, "zoo.cfg")
			_ = os.WriteFile(config, fmt.Appendf(nil, "tickTime=200\ninitLimit=50\nsyncLimit=25\ndataDir=%s\nclientPort=%s\n"+
				"clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n%s", folder, port, &peers), 0o600)
			return exec.Command("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
				"-cp", jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
		})
	}
	b := &backend{name: "zookeeper", url: func(a []string) string { return "zk://" + strings.Join(a, ",") }}
	return b.serve(ctx, t, syscall.SIGKILL, commands...)
}

// serve starts a server with each command, and the proxies to them. end is the
// signal that ends a server at once.
func (b *backend) serve(ctx context.Context, t *testing.T, end syscall.Signal, commands ...func(port string) *exec.Cmd) *backend {
	for _, command := range commands {
		s := &server{command: command, end: end, url: func(address string) string { return b.url([]string{address}) }}
		t.Cleanup(func() { s.stop(end) })
		b.servers = append(b.servers, s)
	}
	must(t, startAll(ctx, b.servers))
	for range seats {
		var own []*proxy
		for _, s := range b.servers {
			p, err := newProxy(s.address)
			must(t, err)
			t.Cleanup(p.close)
			own = append(own, p)
		}
		b.proxies = append(b.proxies, own)
	}
	return b
}

// startAll starts servers together: those of a cluster wait for each other.
func startAll(ctx context.Context, servers []*server) error {
	var starting errgroup.Group
	for _, s := range servers {
		starting.Go(func() error { return s.start(ctx) })
	}
	return starting.Wait()
}

// seatURL is what the child of a seat opens.
func (b *backend) seatURL(seat int) string {
	if len(b.proxies) == 0 {
		return b.url(nil)
	}
	var addresses []string
	for _, p := range b.proxies[seat] {
		addresses = append(addresses, p.address())
	}
	return b.url(addresses)
}

// open opens the backend itself, past the proxies. A file may be locked by somebody
// else for a while.
func (b *backend) open(ctx context.Context) (*access, error) {
	var addresses []string
	for _, s := range b.servers {
		addresses = append(addresses, s.address())
	}
	for {
		a, err := open(b.url(addresses))
		if err == nil || sleep(ctx, 50*time.Millisecond) != nil {
			return a, err
		}
	}
}

// with calls f with the backend open, until f succeeds.
func (b *backend) with(ctx context.Context, f func(a *access) error) error {
	a, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	for {
		if err = f(a); err == nil || sleep(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}

// prepare makes what processes need.
func (b *backend) prepare(ctx context.Context) error {
	return b.with(ctx, func(a *access) error {
		if p, ok := a.leases.(lease.Preparer); ok {
			if err := p.Prepare(ctx, silent); err != nil {
				return err
			}
		}
		if a.counters == nil {
			return nil
		}
		return a.counters.Create(ctx, tag, 1, firstStep)
	})
}

// end returns the rows of all numbers, and what the counter is.
func (b *backend) end(ctx context.Context) (rows []lease.Row, counter int64, err error) {
	err = b.with(ctx, func(a *access) error {
		if rows, err = a.leases.List(ctx, 0, expiry); err != nil || a.counters == nil {
			return err
		}
		all, err := a.counters.List(ctx)
		if err == nil {
			counter = all[0].Next
		}
		return err
	})
	return rows, counter, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
