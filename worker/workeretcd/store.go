package workeretcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// DefaultPrefix is the default of Config.Prefix.
const DefaultPrefix = "/uidring/workers"

// Config configures a [Store]. The zero Config is the default, and so is every zero
// field. Errors match [lease.ErrConfig].
type Config struct {
	// Prefix is what the keys begin with: UTF-8 without NUL that does not end in a slash.
	// Empty is DefaultPrefix. All processes whose ids must differ use the same Prefix.
	Prefix string
}

// New returns a Leaser of numbers in etcd under DefaultPrefix, without calling etcd.
// The Leaser's methods report all faults of the client and the config at once. The
// caller closes client after the last generator.
func New(client *clientv3.Client, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(client, Config{}), config)
}

// Store keeps worker numbers in etcd. It is a lease.Store. Make one with NewStore. It
// has no state of its own and is safe for concurrent use.
type Store struct {
	client *clientv3.Client
	prefix string
}

var (
	_ lease.Store    = (*Store)(nil)
	_ lease.Preparer = (*Store)(nil)
)

// NewStore returns a Store of keys in etcd, for lease.New.
func NewStore(client *clientv3.Client, config Config) *Store {
	return &Store{client, cmp.Or(config.Prefix, DefaultPrefix)}
}

// String implements lease.Store.
func (s *Store) String() string { return "etcd " + s.prefix }

// Check implements lease.Preparer.
func (s *Store) Check() error {
	faults := invalid.Of("workeretcd", lease.ErrConfig)
	if s.client == nil {
		faults.Add("client", "nil", "one of clientv3.New")
	}
	if strings.HasSuffix(s.prefix, "/") || strings.ContainsRune(s.prefix, 0) || !utf8.ValidString(s.prefix) {
		faults.Add("Prefix", strconv.Quote(s.prefix), "UTF-8 without NUL that does not end in a slash, such as "+DefaultPrefix)
	}
	return faults.Err()
}

// Prepare implements lease.Preparer. It makes a request that fails at once if no member
// accepts a connection: other requests of the client wait for one.
func (s *Store) Prepare(ctx context.Context, _ *slog.Logger) error {
	_, err := etcdserverpb.NewKVClient(s.client.ActiveConnection()).Range(ctx,
		&etcdserverpb.RangeRequest{Key: []byte(s.prefix + number), Limit: 1, KeysOnly: true}, grpc.WaitForReady(false))
	return marked(err)
}

// Swap implements lease.Store.
func (s *Store) Swap(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	if old == "" {
		return false, nil // no row has it
	}
	return s.write(ctx, old, w)
}

// Insert implements lease.Store. Inserts of several numbers write the same count of
// given numbers. If another Insert was faster, this one starts again.
func (s *Store) Insert(ctx context.Context, w lease.Write) (done bool, err error) {
	return s.write(ctx, "", w)
}

// SwapLayout implements lease.Store.
func (s *Store) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	key := s.prefix + "/layout"
	for {
		response, err := s.client.Get(ctx, key)
		if err != nil {
			return "", marked(err)
		}
		remembered, revision := "", int64(0)
		for _, pair := range response.Kvs {
			remembered, revision = string(pair.Value), pair.ModRevision
		}
		if remembered != old || remembered == layout {
			return remembered, nil
		}
		written, err := s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, layout)).Commit()
		if err != nil {
			return "", marked(err)
		}
		if written.Succeeded {
			return layout, nil
		}
	}
}

// write writes a row whose token is old, on condition that it is unchanged since it was
// read. An empty token is that of no row.
func (s *Store) write(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	row, alive, given := s.key(number, w.Number), s.key(alive, w.Number), s.key(given, w.Within.From)
	for {
		before, err := s.get(ctx, w)
		if err != nil || before.row.Token != old || old == "" && w.Fresh && before.given > w.Number {
			return false, err
		}
		compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(row), "=", before.revision)}
		ops := []clientv3.Op{clientv3.OpPut(row, string(before.row.After(w).JSON()))}
		if old == "" {
			compares = append(compares, clientv3.Compare(clientv3.ModRevision(given), "=", before.givenRevision))
			ops = append(ops, clientv3.OpPut(given, fmt.Sprint(max(before.given, w.Number+1))))
		}
		if w.Change == lease.Release {
			ops = append(ops, clientv3.OpDelete(alive))
		} else {
			id, err := s.enliven(ctx, w, before)
			if err != nil {
				return false, marked(err)
			}
			if id != before.lease {
				ops = append(ops, clientv3.OpPut(alive, "", clientv3.WithLease(id)))
			}
		}
		response, err := s.client.Txn(ctx).If(compares...).Then(ops...).Commit()
		if err != nil || response.Succeeded {
			return err == nil, marked(err)
		}
	}
}

// enliven returns the holder's etcd lease: it renews the present one, or makes a new
// one. The etcd lease of a write that is not done ends by itself.
func (s *Store) enliven(ctx context.Context, w lease.Write, before state) (clientv3.LeaseID, error) {
	if w.Change == lease.Extend && before.lease != clientv3.NoLease {
		_, err := s.client.KeepAliveOnce(ctx, before.lease)
		return before.lease, err
	}
	granted, err := s.client.Grant(ctx, seconds(w.Expiry))
	if err != nil {
		return clientv3.NoLease, err
	}
	return granted.ID, nil
}

// marked marks errors that pass when etcd has a leader again.
func marked(err error) error {
	for _, passing := range []error{
		rpctypes.ErrNoLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrTimeout, rpctypes.ErrTooManyRequests,
		rpctypes.ErrTimeoutDueToLeaderFail, rpctypes.ErrTimeoutDueToConnectionLost,
		rpctypes.ErrLeaseNotFound, // it ended since it was read
	} {
		if errors.Is(err, passing) {
			return lease.Transient(err)
		}
	}
	return err
}

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
		living[n] = pair.Lease != int64(clientv3.NoLease)
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
