package workeretcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// The kinds of keys.
const (
	number = "/number/"
	alive  = "/alive/"
	given  = "/given/"
)

// key is the key of a number.
func (s *Store) key(kind string, n int64) string { return s.prefix + kind + leaserow.Digits(n) }

// numberOf is the number that a key ends in.
func numberOf(pair *mvccpb.KeyValue) (int64, error) {
	return parseNumber(pair, pair.Key[bytes.LastIndexByte(pair.Key, '/')+1:])
}

func parseNumber(pair *mvccpb.KeyValue, text []byte) (int64, error) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("workeretcd: key %s: %q, want a number", pair.Key, text)
	}
	return n, nil
}

func parse(pair *mvccpb.KeyValue) (leaserow.Row, error) {
	r, err := leaserow.Parse(pair.Value)
	if err != nil {
		err = fmt.Errorf("workeretcd: key %s: %w", pair.Key, err)
	}
	return r, err
}

// seconds is the TTL of an etcd lease.
func seconds(expiry time.Duration) int64 { return int64((expiry + time.Second - 1) / time.Second) }

// state is what etcd has about one number.
type state struct {
	row           leaserow.Row
	revision      int64            // of the row; 0 is no row
	lease         clientv3.LeaseID // while the holder is alive
	given         int64
	givenRevision int64
}

// get reads what a write of w depends on.
func (s *Store) get(ctx context.Context, w lease.Write) (found state, err error) {
	response, err := s.client.Txn(ctx).Then(
		clientv3.OpGet(s.key(number, w.Number)),
		clientv3.OpGet(s.key(alive, w.Number)),
		clientv3.OpGet(s.key(given, w.Within.From)),
	).Commit()
	if err != nil {
		return state{}, marked(err)
	}
	for _, pair := range response.Responses[0].GetResponseRange().Kvs {
		found.revision = pair.ModRevision
		if found.row, err = parse(pair); err != nil {
			return state{}, err
		}
	}
	for _, pair := range response.Responses[1].GetResponseRange().Kvs {
		found.lease = clientv3.LeaseID(pair.Lease)
	}
	for _, pair := range response.Responses[2].GetResponseRange().Kvs {
		found.givenRevision = pair.ModRevision
		if found.given, err = parseNumber(pair, pair.Value); err != nil {
			return state{}, err
		}
	}
	return found, nil
}

// Read implements lease.Store.
func (s *Store) Read(ctx context.Context, n int64, _ time.Duration) (*lease.Row, int64, error) {
	found, err := s.get(ctx, lease.Write{Number: n})
	if err != nil || found.revision == 0 {
		return nil, 0, err
	}
	shown := found.row.Lease(n, found.lease != clientv3.NoLease)
	return &shown, 0, nil
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, limit int, _ time.Duration) ([]lease.Row, error) {
	rows, _, err := s.search(ctx, lease.Bounds{To: 1<<63 - 1},
		clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(int64(max(limit, 0))))
	return rows, err
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, within lease.Bounds, _ time.Duration) (lease.View, error) {
	rows, given, err := s.search(ctx, within)
	if err != nil {
		return lease.View{}, err
	}
	return lease.NewView(0, rows, given, within), nil
}

// search returns the rows within bounds, and what was given to holders whose bounds
// begin at or before within.To.
func (s *Store) search(ctx context.Context, within lease.Bounds, opts ...clientv3.OpOption) ([]lease.Row, map[int64]int64, error) {
	over := func(kind string, from int64, opts ...clientv3.OpOption) clientv3.Op {
		return clientv3.OpGet(s.key(kind, from), append(opts, clientv3.WithRange(s.key(kind, within.To)+"\x00"))...)
	}
	response, err := s.client.Txn(ctx).Then(
		over(alive, within.From, clientv3.WithKeysOnly()), over(number, within.From, opts...), over(given, 0),
	).Commit()
	if err != nil {
		return nil, nil, marked(err)
	}
	living := map[int64]bool{}
	for _, pair := range response.Responses[0].GetResponseRange().Kvs {
		n, err := numberOf(pair)
		if err != nil {
			return nil, nil, err
		}
		living[n] = true
	}
	var rows []lease.Row
	for _, pair := range response.Responses[1].GetResponseRange().Kvs {
		n, err1 := numberOf(pair)
		r, err2 := parse(pair)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		rows = append(rows, r.Lease(n, living[n]))
	}
	counts := map[int64]int64{}
	for _, pair := range response.Responses[2].GetResponseRange().Kvs {
		from, err1 := numberOf(pair)
		next, err2 := parseNumber(pair, pair.Value)
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		counts[from] = next
	}
	return rows, counts, nil
}
