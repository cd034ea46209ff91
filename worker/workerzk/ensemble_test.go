//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerzk"
)

// counted kills a server when a number of writes were asked for.
type counted struct {
	leasestore.Store
	left *atomic.Int64
	then func()
}

func (c counted) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	if c.left.Add(-1) == 0 {
		c.then()
	}
	return c.Store.Swap(ctx, old, w)
}

// TestLeaderKilled: the leader of three is killed under load. The store stays
// linearizable, and holders keep their numbers.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	servers := servertest.StartZooKeeper(t, 3, nil)
	path := newPath()
	h := hold(t, prepared(t, connect(t, servertest.Hosts(servers), 20*time.Second, nil), path))
	var killed atomic.Int64
	var left atomic.Int64
	left.Store(20)
	kill := func() {
		for range 100 { // a server on a busy machine may not say at once that it leads
			for _, s := range servers {
				if s.Mode() == "leader" {
					s.Kill()
					killed.Add(1)
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	path2 := path + "-2"
	leasetest.Linearizable(t, func(t *testing.T) leasestore.Store {
		return counted{prepared(t, connect(t, servertest.Hosts(servers), 20*time.Second, nil), path2), &left, kill}
	})
	if killed.Load() != 1 {
		t.Fatalf("%d leaders were killed, want 1; %d writes were left", killed.Load(), left.Load())
	}
	h.Renew(t)
	h.Kept(t)
}

// TestServerMoves: a server's name leads to another address once the server is gone there. The holder goes on.
func TestServerMoves(t *testing.T) {
	t.Parallel()
	servers := servertest.StartZooKeeper(t, 3, nil)
	var to atomic.Pointer[string]
	to.Store(&servers[0].Address)
	const name = "localhost:2181" // the client's own provider would look it up once
	h := hold(t, prepared(t, connect(t, []string{name}, 20*time.Second, func(network, host string, timeout time.Duration) (net.Conn, error) {
		if host != name {
			return nil, fmt.Errorf("asked for %s, want %s", host, name)
		}
		return net.DialTimeout(network, *to.Load(), timeout)
	}), newPath()))
	servers[0].Kill()
	to.Store(&servers[1].Address)
	h.Renew(t)
	h.Kept(t)
}

// TestFollowerLags: a follower that lacks the last writes does not serve stale reads, to a
// Store or to Leaf.
func TestFollowerLags(t *testing.T) {
	t.Parallel()
	var links []*servertest.Link // of the first server to the others
	servers := servertest.StartZooKeeper(t, 3, func(to string) string {
		links = append(links, servertest.NewLink(t, func() string { return to }))
		return links[len(links)-1].Address()
	})
	ahead := connect(t, servertest.Hosts(servers[1:]), 20*time.Second, nil)
	lagging := func() *zk.Conn { return connect(t, servertest.Hosts(servers[:1]), 20*time.Second, nil) } // a session's reads wait for its writes
	stores := func(of func(*zk.Conn) leasestore.Store) [2]leasestore.Store {
		return [2]leasestore.Store{of(ahead), of(lagging())}
	}
	path, name := newPath(), fmt.Sprint("orders_", leaves.Add(1))
	plain := stores(func(c *zk.Conn) leasestore.Store { return prepared(t, c, path) })
	inserts(t, plain[0], 0, "first")
	agrees := func(s leasestore.Store, old, layout, want string) {
		t.Helper()
		if got, err := s.SwapLayout(background(t), old, leasestore.Terms{Layout: layout}); got != want || err != nil {
			t.Errorf("the layout is %q, %v; want %q", got, err, want)
		}
	}
	agrees(plain[0], "", "first", "first")
	leafs := stores(func(c *zk.Conn) leasestore.Store {
		s := workerzk.LeafStore(c, name, 8080, workerzk.LeafConfig{Address: "10.0.0.1"})
		n, err := s.Assign(background(t), 9)
		if err := errors.Join(err, s.Prepare(background(t), slog.Default())); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		return s
	})
	token := func(s leasestore.Store, number int64, ctx context.Context) string {
		row, _, err := s.Read(ctx, number, time.Minute)
		if err != nil || row == nil {
			return ""
		}
		return row.Token
	}
	if done, err := leafs[0].Swap(background(t), token(leafs[0], 1, background(t)), insert(1, "first")); !done || err != nil {
		t.Fatal(done, err)
	}
	servertest.Eventually(t, "the first writes are seen", func() bool {
		return token(plain[1], 0, background(t)) == "first" && token(leafs[1], 1, background(t)) == "first"
	})
	third, fourth, fifth := ready(t, lagging()), prepared(t, lagging(), path), prepared(t, lagging(), path)
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	for _, l := range links {
		l.Hold(servertest.FromServer)
	}
	for _, s := range []struct {
		leasestore.Store
		number int64
	}{{plain[0], 0}, {leafs[0], 1}} {
		if done, err := s.Swap(background(t), "first", insert(s.number, "second")); !done || err != nil {
			t.Fatalf("%s: swap: %t, %v", s, done, err)
		}
	}
	agrees(plain[0], "first", "second", "second")
	added := func(c *zk.Conn) interface {
		Assign(context.Context, int64) (int64, error)
	} {
		return workerzk.LeafStore(c, name, 8080, workerzk.LeafConfig{Address: "10.0.0.2"})
	}
	if n, err := added(ahead).Assign(background(t), 9); n != 2 || err != nil {
		t.Errorf("number %d, %v; want 2", n, err)
	}
	if n, err := added(third).Assign(soon(), 9); err == nil {
		t.Errorf("number %d of a server that lags; want no answer from the past", n)
	}
	if a, b := token(plain[1], 0, soon()), token(leafs[1], 1, soon()); a == "first" || b == "first" {
		t.Errorf("read %q and %q; want no answer from the past", a, b)
	}
	if done, err := fourth.Swap(soon(), "second", insert(0, "third")); err == nil {
		t.Errorf("swap on a server that lags: %t; want no answer from the past", done)
	}
	if layout, err := fifth.SwapLayout(soon(), "first", leasestore.Terms{Layout: "first"}); err == nil {
		t.Errorf("layout %q of a server that lags; want no answer from the past", layout)
	}
	for _, l := range links {
		need.Must(t, l.Mend())
	}
	agrees(fifth, "first", "first", "second")
	servertest.Eventually(t, "later writes are seen", func() bool {
		return token(plain[1], 0, background(t)) != "first" && token(leafs[1], 1, background(t)) != "first"
	})
	if n, err := added(third).Assign(background(t), 9); n != 2 || err != nil {
		t.Errorf("number %d, %v; want 2", n, err)
	}
	if names, _, err := third.Children("/snowflake/" + name + "/forever"); len(names) != 3 || err != nil {
		t.Errorf("nodes %v, %v; want one of number 0 and one of each address", names, err)
	}
}
