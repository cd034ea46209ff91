//go:build linux

package workeretcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workeretcd"
)

// waits puts n inserts of processes that are dead into the queue, every other one before all
// others.
func waits(t *testing.T, client *clientv3.Client, n int) clientv3.LeaseID {
	t.Helper()
	granted, err := client.Grant(t.Context(), 60)
	must(t, err)
	for i := range n {
		key := fmt.Sprintf("%s/waiting/%019d-%019d/%016x", workeretcd.DefaultPrefix, holdertest.Range.From, holdertest.Range.To, uint64(i%2)<<63|uint64(i))
		_, err := client.Put(t.Context(), key, string(leaserow.Row{}.After(holdertest.Write(0, fmt.Sprint("dead ", i))).JSON()), clientv3.WithLease(granted.ID))
		must(t, err)
	}
	return granted.ID
}

// keys are the keys of a kind.
func keys(t *testing.T, client *clientv3.Client, kind string) (keys []string) {
	t.Helper()
	response, err := client.Get(t.Context(), workeretcd.DefaultPrefix+kind, clientv3.WithPrefix())
	must(t, err)
	for _, pair := range response.Kvs {
		keys = append(keys, string(pair.Key))
	}
	return keys
}

// watched calls before ahead of each watch.
type watched struct {
	clientv3.Watcher
	before func()
}

func (w watched) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	w.before()
	return w.Watcher.Watch(ctx, key, opts...)
}

// An insert whose context ends while it waits leaves nothing behind. An insert that is told
// nothing serves all that wait, more than one transaction can.
func TestNobodyServes(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1))
	store := workeretcd.NewStore(client, workeretcd.Config{})
	dead := waits(t, client, 80)
	ctx, cancel := context.WithCancel(t.Context())
	watcher := client.Watcher
	client.Watcher = watched{watcher, cancel} // an insert watches while it waits
	if _, done, err := store.Insert(ctx, holdertest.Fresh("in vain")); done || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v; want Canceled", done, err)
	}
	client.Watcher = watcher
	servertest.Eventually(t, "the etcd lease and the keys of the dead are there alone", func() bool { // etcd may be slow to revoke the other
		left, err := client.Leases(t.Context())
		must(t, err)
		return len(left.Leases) == 1 && left.Leases[0].ID == dead && len(keys(t, client, "/waiting/")) == 80
	})
	holdertest.Inserts(t, store, holdertest.Fresh("own"), 40)
	row, _, err := store.Read(t.Context(), 7, time.Hour)
	if err != nil || row == nil || row.Token != "dead 14" || row.State != leasestore.StateHeld {
		t.Errorf("%+v, %v; want the row that waited", row, err)
	}
	if left := keys(t, client, "/waiting/"); len(left) > 0 {
		t.Errorf("%q still wait", left)
	}
	_, err = client.Revoke(t.Context(), dead)
	must(t, err)
	if left := keys(t, client, "/told/"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// An insert that stops waiting before it is served gets no row. An insert that is served while it
// would serve itself has one number.
func TestQueueChanges(t *testing.T) {
	members, ctx := servertest.StartEtcd(t, 1), t.Context()
	client, others := connect(t, members), connect(t, members)
	store := workeretcd.NewStore(client, workeretcd.Config{})
	dead := waits(t, others, 1)
	client.KV = &hooked{client.KV, 3, func() { // before the insert serves
		_, err := others.Revoke(ctx, dead)
		must(t, err)
	}}
	holdertest.Inserts(t, store, holdertest.Fresh("own"), 0)
	client.KV = &hooked{client.KV, 2, func() {
		waits(t, others, 1)
		holdertest.Inserts(t, workeretcd.NewStore(others, workeretcd.Config{}), holdertest.Fresh("other"), 3) // after all that wait
	}}
	holdertest.Inserts(t, store, holdertest.Fresh("served"), 2)
	waits(t, others, 1)
	client.KV = &hooked{client.KV, 2, func() { // when the insert has lost its patience
		holdertest.Inserts(t, workeretcd.NewStore(others, workeretcd.Config{}), holdertest.Fresh("patient"), 6)
	}}
	holdertest.Inserts(t, store, holdertest.Fresh("impatient"), 5)
	if rows, waiting := keys(t, client, "/number/"), keys(t, client, "/waiting/"); len(rows) != 7 || len(waiting) > 0 {
		t.Errorf("the rows are %q; want seven, and none of %q", rows, waiting)
	}
	put, err := client.Put(ctx, "told", "7") // between a read and a watch
	must(t, err)
	for range 5 { // on a busy machine, a watch may take longer than an insert waits
		pair, err := workeretcd.Wait(ctx, client, "told", put.Header.Revision-1)
		must(t, err)
		if pair != nil {
			return
		}
	}
	t.Error("an insert is not told what was written since its read")
}

// A new number lies above all rows, even if the counts were lost, and above all counts.
func TestCountsLost(t *testing.T) {
	client, ctx := connect(t, servertest.StartEtcd(t, 1)), t.Context()
	store := workeretcd.NewStore(client, workeretcd.Config{})
	for want, lost := range []string{"", "/given/", "/given/", "/number/", "/given/"} {
		if lost != "" {
			_, err := client.Delete(ctx, workeretcd.DefaultPrefix+lost, clientv3.WithPrefix())
			must(t, err)
		}
		holdertest.Inserts(t, store, holdertest.Fresh(fmt.Sprint(want)), int64(want))
	}
}
