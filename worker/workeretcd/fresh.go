package workeretcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Fresh inserts queue in etcd, so that a start costs the same however many start with it. An
// insert puts its row into the queue. The first in the queue serves all: one transaction makes
// their rows, deletes them from the queue, and tells each its number. The others wait for
// that. If an insert is told nothing for a while, the first may be dead, and the insert serves.
//
// Each transaction names all that it depends on: no count has changed, no row is there or above, and
// all that are served still wait. So two that serve at once give no number twice. An insert that fails
// revokes its etcd lease, to which its keys are attached: it waits no longer, and its row expires.

// queue is the queue of inserts with one range, as one of them sees it.
type queue struct {
	*store
	within leasestore.Range
	kind   string // what keys in the queue begin with
	own    string // the insert's key in the queue
	told   string // the key that tells its number
}

// most inserts are served by one transaction: etcd takes 128 operations, and each needs four.
const most = 30

// patience is the least time that an insert waits before it serves.
const patience = time.Second

func (s *store) insertFresh(ctx context.Context, w leasestore.Write) (n int64, done bool, err error) {
	granted, err := s.grant(ctx, w.Expiry)
	if err != nil {
		return 0, false, s.marked(err)
	}
	defer func() {
		if !done {
			s.revoke(ctx, granted)
		}
	}()
	kind := s.prefix + waiting + leaserow.Digits(w.Within.From) + "-" + leaserow.Digits(w.Within.To) + "/"
	q := queue{s, w.Within, kind, fmt.Sprintf("%s%016x", kind, granted), fmt.Sprintf("%s%s%016x", s.prefix, told, granted)}
	n, err = q.take(ctx, clientv3.OpPut(q.own, string(leaserow.Row{}.After(w).JSON()), clientv3.WithLease(granted)))
	return n, err == nil && n <= w.Within.To, err
}

// take enters the queue, and returns the number that the insert is served.
func (q queue) take(ctx context.Context, enter clientv3.Op) (n int64, err error) {
	for impatient := false; ; impatient = true {
		f, _, err := q.commit(q.txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(q.told), "=", 0)).
			Then(append([]clientv3.Op{enter}, q.reads()...)...).Else(q.reads()...))
		for err == nil && f.told == nil && len(f.waiting) > 0 && (impatient || string(f.waiting[0].Key) >= q.own) {
			if n, f, err = q.serve(ctx, f); n < 0 {
				continue
			}
			for err == nil && len(f.waiting) > 0 { // those that came meanwhile
				_, f, err = q.serve(ctx, f)
			}
			return n, nil
		}
		if err == nil && f.told == nil {
			f.told, err = q.wait(ctx, f.revision)
		}
		if err != nil {
			return 0, err
		}
		if f.told != nil {
			_, _ = q.client.Delete(ctx, q.told) // or it goes with the etcd lease
			return leaserow.Number(string(f.told.Value))
		}
	}
}

// reads reads what serve depends on.
func (q queue) reads() []clientv3.Op {
	return []clientv3.Op{q.counts(q.within), clientv3.OpGet(q.kind, clientv3.WithPrefix(), clientv3.WithLimit(most)), clientv3.OpGet(q.told)}
}

// serve gives numbers to those that wait, if nothing has changed since f was read. It returns the
// number of this insert, or -1, and what is there then.
func (q queue) serve(ctx context.Context, f found) (n int64, after found, err error) {
	n = -1
	if len(f.numbers) > 0 { // the counts are behind, as after their loss
		last, _, err := q.commit(q.txn(ctx).Then(q.end(q.within, clientv3.SortDescend)))
		if err != nil {
			return n, f, err
		}
		f.numbers = last.numbers
	}
	next := f.next(q.within)
	refused := q.reads()
	compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(q.key(given, 0)), "<", f.revision+1).WithRange(q.key(given, q.within.To) + "\x00")}
	if above := (leasestore.Range{From: next, To: q.within.To}); next <= above.To {
		refused = append(refused, q.end(above, clientv3.SortAscend))
		compares = append(compares, clientv3.Compare(clientv3.ModRevision(q.key(number, next)), "=", 0).WithRange(q.key(number, above.To)+"\x00"))
	}
	var ops []clientv3.Op
	for _, pair := range f.waiting {
		key, attached := string(pair.Key), clientv3.WithLease(clientv3.LeaseID(pair.Lease))
		compares = append(compares, clientv3.Compare(clientv3.CreateRevision(key), "=", pair.CreateRevision))
		ops = append(ops, clientv3.OpDelete(key))
		if key == q.own {
			n = next
		} else {
			ops = append(ops, clientv3.OpPut(q.prefix+told+key[len(q.kind):], fmt.Sprint(next), attached))
		}
		if next <= q.within.To {
			ops = append(ops, clientv3.OpPut(q.key(number, next), string(pair.Value)), clientv3.OpPut(q.key(alive, next), "", attached))
			next++
		}
	}
	if next > f.next(q.within) {
		ops = append(ops, clientv3.OpPut(q.key(given, q.within.From), fmt.Sprint(next)))
	}
	after, done, err := q.commit(q.txn(ctx).If(compares...).Then(append(ops, q.reads()...)...).Else(refused...))
	if !done {
		n = -1
	}
	return n, after, err
}

// wait returns what the insert is told after a revision, nil if it has waited long enough.
func (q queue) wait(ctx context.Context, revision int64) (*mvccpb.KeyValue, error) {
	waiting, cancel := context.WithTimeout(ctx, patience+rand.N(patience))
	defer cancel()
	for response := range q.client.Watch(clientv3.WithRequireLeader(waiting), q.told, clientv3.WithRev(revision+1)) {
		for _, event := range response.Events {
			if event.Type == mvccpb.PUT {
				return event.Kv, nil
			}
		}
	}
	return nil, ctx.Err()
}
