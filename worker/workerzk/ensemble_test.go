//go:build linux

package workerzk_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// counted kills a server when a number of writes were asked for.
type counted struct {
	lease.Store
	left *atomic.Int64
	then func()
}

func (c counted) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
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
	leasetest.Linearizable(t, func(t *testing.T) lease.Store {
		return counted{prepared(t, connect(t, servertest.Hosts(servers), 20*time.Second, nil), path2), &left, kill}
	})
	if killed.Load() != 1 {
		t.Fatalf("%d leaders were killed, want 1; %d writes were left", killed.Load(), left.Load())
	}
	h.Renew(t)
	h.Kept(t)
}

// TestFollowerLags: a follower that lacks the last writes does not serve stale reads.
func TestFollowerLags(t *testing.T) {
	t.Parallel()
	var g gate
	servers := servertest.StartZooKeeper(t, 3, func(to string) string { return g.detour(t, to) })
	path := newPath()
	ahead := prepared(t, connect(t, servertest.Hosts(servers[1:]), 20*time.Second, nil), path)
	lagging := prepared(t, connect(t, servertest.Hosts(servers[:1]), 20*time.Second, nil), path)
	inserts(t, ahead, 0, "first")
	token := func(ctx context.Context) string {
		row, _, err := lagging.Read(ctx, 0, time.Minute)
		if err != nil || row == nil {
			return ""
		}
		return row.Token
	}
	servertest.Eventually(t, "the first write is seen", func() bool { return token(background(t)) == "first" })
	g.Lock()
	done, err := ahead.Swap(background(t), "first", insert(0, "second"))
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	if done, err := lagging.Swap(soon(), "second", insert(0, "third")); err == nil {
		t.Errorf("swap on a server that lags: %t; want no answer from the past", done)
	}
	seen := token(soon())
	g.Unlock()
	if !done || err != nil || seen == "first" {
		t.Errorf("swap: %t, %v; then %q was read, want no answer from the past", done, err, seen)
	}
	servertest.Eventually(t, "a later write is seen", func() bool { return token(background(t)) != "first" })
}
