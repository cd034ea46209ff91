//go:build linux

package workeretcd_test

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workeretcd"
)

// A holder whose etcd lease is gone goes on with its number, under another etcd lease.
func TestLivenessLost(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1))
	h := take(t, client)
	for range 2 {
		alive := fmt.Sprintf("%s/alive/%019d", workeretcd.DefaultPrefix, h.Last().Number)
		servertest.Eventually(t, "its etcd lease is revoked", func() bool { // on a slow machine it can have expired, until a renewal
			response, err := client.Get(t.Context(), alive)
			must(t, err)
			if response.Count == 0 {
				return false
			}
			_, err = client.Revoke(t.Context(), clientv3.LeaseID(response.Kvs[0].Lease))
			return err == nil
		})
		h.Renew(t)
		servertest.Eventually(t, "it is alive again", func() bool {
			response, err := client.Get(t.Context(), alive)
			return err == nil && response.Count == 1 && response.Kvs[0].Lease != 0
		})
	}
	h.Kept(t)
}

// A renewal extends the etcd lease, whose TTL is the expiry, rounded up. A new holder
// has one of its own.
func TestLivenessKept(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1))
	left := func() (id clientv3.LeaseID, ttl *clientv3.LeaseTimeToLiveResponse) {
		response, err := client.Get(t.Context(), aliveKey)
		must(t, err)
		id = clientv3.LeaseID(response.Kvs[0].Lease)
		ttl, err = client.TimeToLive(t.Context(), id)
		must(t, err)
		return id, ttl
	}
	h := take(t, client, lease.Config{Expiry: 59500 * time.Millisecond})
	first, ttl := left()
	if ttl.GrantedTTL != 60 {
		t.Errorf("the etcd lease lasts %d s, want 60", ttl.GrantedTTL)
	}
	servertest.Eventually(t, "some of it has passed", func() bool { _, ttl = left(); return ttl.TTL <= 58 })
	servertest.Eventually(t, "it is renewed", func() bool {
		h.Renew(t)
		id, ttl := left()
		return id == first && ttl.TTL > 58
	})

	store := workeretcd.NewStore(client, workeretcd.Config{})
	row, _, err := store.Read(t.Context(), 0, time.Minute)
	must(t, err)
	done, err := store.Swap(t.Context(), row.Token, leasestore.Write{Token: "a", Change: leasestore.Acquire, Expiry: time.Hour})
	if second, _ := left(); !done || err != nil || second == first {
		t.Errorf("%t, %v; etcd lease %d after %d", done, err, second, first)
	}
}

// A write that is not done leaves no etcd lease behind.
func TestNoLeaseIsLeft(t *testing.T) {
	client, ctx := connect(t, servertest.StartEtcd(t, 1)), t.Context()
	store := workeretcd.NewStore(client, workeretcd.Config{})
	holdertest.Together(20, func(i int) {
		if _, _, err := store.Insert(ctx, holdertest.Write(int64(i/10), fmt.Sprint(i))); err != nil {
			t.Error(err)
		}
	})
	servertest.Eventually(t, "there is an etcd lease for each of two holders", func() bool {
		left, err := client.Leases(ctx)
		return err == nil && len(left.Leases) == 2
	})
}
