//go:build linux

package workeretcd_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workeretcd"
)

// Of the number 0.
const (
	rowKey   = workeretcd.DefaultPrefix + "/number/0000000000000000000"
	aliveKey = workeretcd.DefaultPrefix + "/alive/0000000000000000000"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	members := servertest.StartEtcd(t, 1, "--heartbeat-interval", "20", "--election-timeout", "200") // whose shortest TTL is a second
	leasetest.Suite{
		Expiry: time.Second,
		Open: func(t *testing.T) leasetest.Opener {
			prefix := "/" + t.Name()
			return func(t *testing.T) lease.Store {
				return workeretcd.NewStore(connect(t, members...), workeretcd.Config{Prefix: prefix})
			}
		},
	}.Run(t)
}

// While there is no leader, holders keep what they have; then they go on.
func TestLeaderKilled(t *testing.T) {
	members := servertest.StartEtcd(t, 3)
	client := connect(t, members...)
	h := take(t, client)
	for range 2 {
		var killed *servertest.Etcd
		for _, m := range members {
			if status, err := client.Status(t.Context(), m.Endpoint); err == nil && status.Leader == status.Header.MemberId {
				killed = m
			}
		}
		if killed == nil {
			t.Fatal("there is no leader")
		}
		killed.Kill()
		h.Renew(t)
		if n := take(t, client).Last().Number; n == h.Last().Number {
			t.Errorf("number %d is held twice", n)
		}
		killed.Restart(t)
	}
	h.Kept(t)
}

// The count of numbers given is never lowered, so that it outlives rows: not by a smaller
// number that is asked for, nor by one who inserts at the same time.
func TestGivenIsKept(t *testing.T) {
	members := servertest.StartEtcd(t, 1)
	ctx, within := t.Context(), lease.Bounds{To: 1023}
	write := func(n int64) lease.Write {
		return lease.Write{Number: n, Token: fmt.Sprint(n), Change: lease.Acquire, Expiry: time.Hour, Within: within}
	}
	client := connect(t, members...)
	store := workeretcd.NewStore(client, workeretcd.Config{})
	other := workeretcd.NewStore(connect(t, members...), workeretcd.Config{})
	insert := func(s *workeretcd.Store, n int64) {
		if done, err := s.Insert(ctx, write(n)); !done || err != nil {
			t.Errorf("insert %d: %t, %v", n, done, err)
		}
	}
	insert(store, 5)
	insert(store, 2)
	client.KV = &hooked{client.KV, 2, func() { insert(other, 8) }} // between what it reads and what it writes
	insert(store, 3)
	_, err := client.Delete(ctx, workeretcd.DefaultPrefix+"/number/", clientv3.WithPrefix())
	must(t, err)
	if view, err := store.Look(ctx, within, time.Hour); err != nil || view.Next != 9 {
		t.Errorf("%+v, %v; want 9 to be the next number", view, err)
	}
}

// hooked does something before a transaction.
type hooked struct {
	clientv3.KV
	in   int // how many transactions from now
	hook func()
}

func (h *hooked) Txn(ctx context.Context) clientv3.Txn {
	if h.in--; h.in == 0 {
		h.hook()
	}
	return h.KV.Txn(ctx)
}

// A range that lies within another knows what was given in the other, even without rows.
func TestGivenInOtherRanges(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1)...)
	store := workeretcd.NewStore(client, workeretcd.Config{})
	w := lease.Write{Number: 600, Token: "a", Change: lease.Acquire, Expiry: time.Hour, Within: lease.Bounds{To: 1023}}
	if done, err := store.Insert(t.Context(), w); !done || err != nil {
		t.Fatal(done, err)
	}
	_, err := client.Delete(t.Context(), workeretcd.DefaultPrefix+"/number/", clientv3.WithPrefix())
	must(t, err)
	if view, err := store.Look(t.Context(), lease.Bounds{From: 512, To: 1023}, time.Hour); err != nil || view.Next != 601 {
		t.Errorf("%+v, %v; want 601 to be the next number", view, err)
	}
}
