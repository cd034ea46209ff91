//go:build linux

package torture

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

var must = need.Must

// backend is a store under torture.
type backend struct {
	url      func(addresses []string) string
	servers  []*servertest.Member // none for SQLite
	links    [][]*servertest.Link // of each seat, one to each server
	counters bool                 // segments have a store there
}

// opener starts a backend with its files in dir. It skips the test where the store is not
// installed.
type opener func(ctx context.Context, t *testing.T, dir string) *backend

var (
	startMariaDB  = startSQL(servertest.MariaDB)
	startPostgres = startSQL(servertest.Postgres)
)

// backends are the stores by name.
var backends = []struct {
	name string
	open opener
}{
	{"sqlite", openSQLite},
	{"mariadb", startMariaDB},
	{"postgres", startPostgres},
	{"redis", startRedis},
	{"etcd", startEtcd},
	{"zookeeper", startZooKeeper},
	{"kubernetes", startKube},
}

// openSQLite makes processes wait two seconds for a locked file, less than by default, so
// that some requests fail and others are delayed.
func openSQLite(_ context.Context, _ *testing.T, dir string) *backend {
	url := filepath.Join(dir, "torture.db") + "?_busy_timeout=2000&_pragma=busy_timeout(2000)"
	return &backend{counters: true, url: func([]string) string { return url }}
}

// startSQL returns the opener of a database that prepare prepares.
func startSQL(prepare func(t *testing.T, dir string) servertest.Database) opener {
	return func(ctx context.Context, t *testing.T, dir string) *backend {
		d := prepare(t, dir)
		d.Ready = func(address string) error { return dbtest.Answers(d.URL(address)) }
		b := &backend{counters: true, url: func(a []string) string { return d.URL(a[0]) }}
		return b.serve(ctx, t, d.Program)
	}
}

// startRedis starts a Redis that flushes each write before it answers.
func startRedis(ctx context.Context, t *testing.T, dir string) *backend {
	b := &backend{counters: true, url: func(a []string) string { return "redis://" + a[0] }}
	return b.serve(ctx, t, servertest.RedisProgram(t, dir, servertest.Durable...))
}

// members is how many servers etcd and ZooKeeper have: one can be unavailable.
const members = 3

func startEtcd(ctx context.Context, t *testing.T, dir string) *backend {
	b := &backend{url: func(a []string) string { return "etcd://" + strings.Join(a, ",") }}
	return b.serve(ctx, t, servertest.EtcdPrograms(t, dir, members)...)
}

func startZooKeeper(ctx context.Context, t *testing.T, dir string) *backend {
	b := &backend{url: func(a []string) string { return "zk://" + strings.Join(a, ",") }}
	return b.serve(ctx, t, servertest.ZooKeeperPrograms(t, dir, members, nil)...)
}

// startKube starts a Kubernetes API server and its etcd. Both are servers of the backend.
func startKube(ctx context.Context, t *testing.T, dir string) *backend {
	etcd := servertest.EtcdPrograms(t, dir, 1)[0].At(servertest.Addresses(t, 1)[0])
	program := servertest.KubeProgram(t, dir, etcd.Endpoint)
	t.Cleanup(func() { end(etcd) })
	must(t, startAll(ctx, []*servertest.Member{etcd}))
	b := &backend{url: func(a []string) string { return "kube://" + a[0] + " " + servertest.KubeCA(dir) }}
	b.serve(ctx, t, program)
	b.servers = append(b.servers, etcd) // processes reach only the first
	return b
}

// serve starts servers, and the links to them.
func (b *backend) serve(ctx context.Context, t *testing.T, programs ...servertest.Program) *backend {
	for i, address := range servertest.Addresses(t, len(programs)) {
		s := programs[i].At(address)
		t.Cleanup(func() { end(s) })
		b.servers = append(b.servers, s)
	}
	must(t, startAll(ctx, b.servers))
	for range seats {
		var own []*servertest.Link
		for _, s := range b.servers {
			own = append(own, servertest.NewLink(t, func() string { return s.Address }))
		}
		b.links = append(b.links, own)
	}
	return b
}

// startAll starts servers at the same time: those of a cluster wait for each other. The first
// attempts can fail because of a lock, or of a process that has not ended yet.
func startAll(ctx context.Context, servers []*servertest.Member) error {
	var starting errgroup.Group
	for _, s := range servers {
		starting.Go(func() (err error) {
			for range 100 {
				if err = s.Launch(ctx); err == nil || sleep(ctx, 200*time.Millisecond) != nil {
					break
				}
			}
			return err
		})
	}
	return starting.Wait()
}

// seatURL returns the URL that the child of a seat opens.
func (b *backend) seatURL(seat int) string {
	var addresses []string
	if len(b.links) > 0 {
		for _, l := range b.links[seat] {
			addresses = append(addresses, l.Address())
		}
	}
	return b.url(addresses)
}

// with opens the backend without its links, and calls f until f succeeds. It retries
// both, since a file may be locked.
func (b *backend) with(ctx context.Context, f func(a *access) error) error {
	retry := func(do func() error) error {
		for {
			if err := do(); err == nil || sleep(ctx, 50*time.Millisecond) != nil {
				return err
			}
		}
	}
	var addresses []string
	for _, s := range b.servers {
		addresses = append(addresses, s.Address)
	}
	var a *access
	err := retry(func() (err error) { a, err = open(b.url(addresses)); return err })
	if err != nil {
		return err
	}
	defer a.close()
	return retry(func() error { return f(a) })
}

// prepare makes the counter that processes need, and unless empty the tables of numbers.
func (b *backend) prepare(ctx context.Context, empty bool) error {
	return b.with(ctx, func(a *access) (err error) {
		if !empty {
			err = a.leases.Prepare(ctx, silent)
		}
		if err == nil && a.counters != nil {
			err = a.counters.Create(ctx, tag, 1, firstStep)
		}
		return err
	})
}

// end returns the rows of all numbers, and the counter. If the run began empty, there may be no table.
func (b *backend) end(ctx context.Context, empty bool) (rows []leasestore.Row, counter int64, err error) {
	err = b.with(ctx, func(a *access) error {
		rows, err = a.leases.List(ctx, 0, expiry)
		if empty && errors.Is(err, worker.ErrNoTable) {
			err = nil // each process was killed before it could make the table
		}
		if err != nil || a.counters == nil {
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

// end ends a server and all its processes at once, if it runs.
func end(s *servertest.Member) {
	if s.Process != nil {
		s.Kill()
	}
}
