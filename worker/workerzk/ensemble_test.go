//go:build linux

package workerzk_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
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
				if servertest.ZooKeeperMode(s.Address) == "leader" {
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

// TestFollowerLags: a follower that lacks the last writes does not serve stale reads.
func TestFollowerLags(t *testing.T) {
	t.Parallel()
	var links []*servertest.Link // of the first server to the others
	servers := servertest.StartZooKeeper(t, 3, func(to string) string {
		links = append(links, servertest.NewLink(t, func() string { return to }))
		return links[len(links)-1].Address()
	})
	path := newPath()
	ahead := prepared(t, connect(t, servertest.Hosts(servers[1:]), 20*time.Second, nil), path)
	lagging := func() leasestore.Preparer { // a session's reads wait for its own writes
		return prepared(t, connect(t, servertest.Hosts(servers[:1]), 20*time.Second, nil), path)
	}
	agrees := func(s leasestore.Store, old, layout, want string) {
		t.Helper()
		var got string
		var err error
		servertest.Eventually(t, "there is an answer", func() bool { // a server that lags for long gives its connections up
			got, err = s.SwapLayout(background(t), old, leasestore.Terms{Layout: layout})
			return !leasestore.IsTransient(err)
		})
		if got != want || err != nil {
			t.Errorf("the layout is %q, %v; want %q", got, err, want)
		}
	}
	holdertest.Inserts(t, ahead, holdertest.Fresh("first"), 0)
	agrees(ahead, "", "first", "first")
	reader, writer, adopter := lagging(), lagging(), lagging()
	token := func(ctx context.Context) string {
		row, _, err := reader.Read(ctx, 0, time.Minute)
		if err != nil || row == nil {
			return ""
		}
		return row.Token
	}
	servertest.Eventually(t, "the first write is seen", func() bool { return token(background(t)) == "first" })
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	for _, l := range links {
		l.Hold(servertest.FromServer)
	}
	holdertest.Swaps(t, ahead, "first", holdertest.Write(0, "second"), true)
	agrees(ahead, "first", "second", "second")
	if got := token(soon()); got == "first" {
		t.Error("read the first token; want no answer from the past")
	}
	if done, err := writer.Swap(soon(), "second", holdertest.Write(0, "third")); err == nil {
		t.Errorf("swap on a server that lags: %t; want no answer from the past", done)
	}
	if layout, err := adopter.SwapLayout(soon(), "first", leasestore.Terms{Layout: "first"}); err == nil {
		t.Errorf("layout %q of a server that lags; want no answer from the past", layout)
	}
	for _, l := range links {
		need.Must(t, l.Mend())
	}
	agrees(adopter, "first", "first", "second")
	servertest.Eventually(t, "later writes are seen", func() bool { last := token(background(t)); return last == "second" || last == "third" })
}
