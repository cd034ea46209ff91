package workeretcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The kinds of keys.
const (
	number  = "/number/"
	alive   = "/alive/"
	given   = "/given/"
	waiting = "/waiting/"
	told    = "/told/"
)

func (s *store) key(kind string, n int64) string { return s.prefix + kind + leaserow.Digits(n) }

// over reads the keys of a kind within a range.
func (s *store) over(kind string, within leasestore.Range, opts ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(s.key(kind, within.From), append(opts, clientv3.WithRange(s.key(kind, within.To)+"\x00"))...)
}

// counts reads the counts of holders whose ranges begin at or before within.To.
func (s *store) counts(within leasestore.Range) clientv3.Op {
	return s.over(given, leasestore.Range{To: within.To})
}

// end reads the first or the last row within a range. To find the last, etcd reads them all.
func (s *store) end(within leasestore.Range, order clientv3.SortOrder) clientv3.Op {
	return s.over(number, within, clientv3.WithSort(clientv3.SortByKey, order), clientv3.WithLimit(1))
}

// found is what a transaction read.
type found struct {
	revision  int64            // of etcd
	revisions map[string]int64 // of the last changes of keys
	numbers   map[int64]leaserow.Row
	living    map[int64]clientv3.LeaseID
	given     map[int64]int64
	waiting   []*mvccpb.KeyValue
	told      *mvccpb.KeyValue // nil is none
}

// txn begins a transaction that a member without a leader refuses at once.
func (s *store) txn(ctx context.Context) clientv3.Txn {
	return s.client.Txn(clientv3.WithRequireLeader(ctx))
}

// led makes a request. A member without a leader refuses it, and the client asks the next member.
func led[T any](s *store, request func() (T, error)) (answer T, err error) {
	for range max(1, len(s.client.Endpoints())) {
		if answer, err = request(); !errors.Is(rpctypes.Error(err), rpctypes.ErrNoLeader) {
			break
		}
	}
	return answer, err
}

// commit commits a transaction of txn.
func (s *store) commit(txn clientv3.Txn) (f found, succeeded bool, err error) {
	response, err := led(s, txn.Commit)
	if err != nil {
		return found{}, false, s.marked(err)
	}
	f = found{response.Header.Revision, map[string]int64{}, map[int64]leaserow.Row{}, map[int64]clientv3.LeaseID{}, map[int64]int64{}, nil, nil}
	for _, part := range response.Responses {
		for _, pair := range part.GetResponseRange().GetKvs() {
			f.revisions[string(pair.Key)] = pair.ModRevision
			if err := f.add(strings.TrimPrefix(string(pair.Key), s.prefix), pair); err != nil {
				return found{}, false, fmt.Errorf("workeretcd: key %s: %w", pair.Key, err)
			}
		}
	}
	return f, response.Succeeded, nil
}

func (f *found) add(key string, pair *mvccpb.KeyValue) (err error) {
	switch {
	case strings.HasPrefix(key, waiting):
		f.waiting = append(f.waiting, pair)
		_, err = leaserow.Parse(pair.Value)
		return err
	case strings.HasPrefix(key, told):
		f.told = pair
		return nil
	}
	n, err := leaserow.Number(string(pair.Key[bytes.LastIndexByte(pair.Key, '/')+1:]))
	switch {
	case err != nil:
	case strings.HasPrefix(key, alive):
		f.living[n] = clientv3.LeaseID(pair.Lease)
	case strings.HasPrefix(key, number):
		f.numbers[n], err = leaserow.Parse(pair.Value)
	default:
		f.given[n], err = leaserow.Number(string(pair.Value))
	}
	return err
}

func (f found) next(within leasestore.Range) int64 {
	return leasestore.NewView(0, f.rows(), f.given, within).Next
}

func (f found) rows() (rows []leasestore.Row) {
	for n, row := range f.numbers {
		rows = append(rows, row.Lease(n, f.living[n] != clientv3.NoLease))
	}
	return rows
}

// rows reads the rows of numbers, with two operations for each.
func (s *store) rows(numbers []int64) (ops []clientv3.Op) {
	for _, n := range numbers {
		ops = append(ops, clientv3.OpGet(s.key(alive, n), clientv3.WithKeysOnly()), clientv3.OpGet(s.key(number, n)))
	}
	return ops
}

// Read implements leasestore.Store. The time it returns is 0: etcd exposes no clock.
func (s *store) Read(ctx context.Context, n int64, _ time.Duration) (*leasestore.Row, int64, error) {
	f, _, err := s.commit(s.txn(ctx).Then(s.rows([]int64{n})...))
	for _, row := range f.rows() {
		return &row, 0, nil
	}
	return nil, 0, err
}

func (s *store) List(ctx context.Context, limit int, _ time.Duration) ([]leasestore.Row, error) {
	all := leasestore.Range{To: 1<<63 - 1}
	f, _, err := s.commit(s.txn(ctx).Then(s.over(alive, all, clientv3.WithKeysOnly()),
		s.over(number, all, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(int64(max(limit, 0))))))
	rows := f.rows()
	slices.SortFunc(rows, func(a, b leasestore.Row) int { return cmp.Compare(b.Number, a.Number) })
	return rows, err
}

func (s *store) Look(ctx context.Context, within leasestore.Range, full bool, _ time.Duration) (leasestore.View, error) {
	ops := []clientv3.Op{s.counts(within)}
	if full {
		ops = append(ops, s.over(alive, within, clientv3.WithKeysOnly()), s.over(number, within))
	}
	f, _, err := s.commit(s.txn(ctx).Then(ops...))
	view := leasestore.NewView(0, f.rows(), f.given, within)
	if err != nil || full {
		return view, err
	}
	return leaserow.Sample(0, within, f.given, func(numbers []int64) (int64, []leasestore.Row, error) {
		f, _, err := s.commit(s.txn(ctx).Then(s.rows(numbers)...))
		return 0, f.rows(), err
	})
}
