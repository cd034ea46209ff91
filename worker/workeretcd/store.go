package workeretcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
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
// is safe for concurrent use.
type Store struct {
	client *clientv3.Client
	prefix string
	fresh  leaserow.Queue
}

var (
	_ lease.Store    = (*Store)(nil)
	_ lease.Preparer = (*Store)(nil)
)

// NewStore returns a Store of keys in etcd, for lease.New.
func NewStore(client *clientv3.Client, config Config) *Store {
	s := &Store{client: client, prefix: cmp.Or(config.Prefix, DefaultPrefix)}
	s.fresh = leaserow.Queue{Allot: s.allot, Most: 60} // etcd takes 128 operations in one transaction
	return s
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

// Insert implements lease.Store. Fresh inserts of a Store share transactions. If another
// process was faster, they try again.
func (s *Store) Insert(ctx context.Context, w lease.Write) (number int64, done bool, err error) {
	if !w.Fresh {
		done, err := s.write(ctx, "", w)
		return w.Number, done, err
	}
	return s.fresh.Insert(ctx, w)
}

// allot makes rows of numbers that were never given, and raises their count, in one transaction.
func (s *Store) allot(ctx context.Context, turns []*leaserow.Turn) (err error) {
	within, granted := turns[0].Within, make([]clientv3.LeaseID, len(turns))
	defer func() {
		for i, t := range turns {
			if granted[i] != clientv3.NoLease && !t.Done && err == nil {
				_, _ = s.client.Revoke(ctx, granted[i])
			}
		}
	}()
	var granting sync.WaitGroup
	failures := make([]error, len(turns))
	for i, t := range turns {
		granting.Go(func() { granted[i], failures[i] = s.grant(ctx, t.Expiry) })
	}
	granting.Wait()
	if err := cmp.Or(failures...); err != nil {
		return marked(err)
	}
	for {
		found, err := s.read(ctx, s.counts(within))
		if err != nil {
			return err
		}
		next := found.next(within)
		// No count up to To, nor the last row, has changed since it was read.
		compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(s.key(given, 0)), "<", found.revision+1).WithRange(s.key(given, within.To) + "\x00")}
		var writes []clientv3.Op
		for i, t := range turns {
			if t.Number = next; next > within.To {
				continue
			}
			row := s.key(number, next)
			compares = append(compares, clientv3.Compare(clientv3.ModRevision(row), "=", 0))
			writes = append(writes, clientv3.OpPut(row, string(leaserow.Row{}.After(t.Write).JSON())),
				clientv3.OpPut(s.key(alive, next), "", clientv3.WithLease(granted[i])))
			next++
		}
		if len(writes) == 0 {
			return nil
		}
		writes = append(writes, clientv3.OpPut(s.key(given, within.From), fmt.Sprint(next)))
		response, err := s.client.Txn(ctx).If(compares...).Then(writes...).Commit()
		if err != nil {
			return marked(err)
		}
		if response.Succeeded {
			for _, t := range turns {
				t.Done = t.Number <= within.To
			}
			return nil
		}
		if err := s.fresh.Collided(ctx); err != nil { // before what was read is old again
			return err
		}
	}
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
	granted := clientv3.NoLease // by this call
	defer func() {
		if granted != clientv3.NoLease && !done && err == nil { // with an error, the transaction may be done
			_, _ = s.client.Revoke(ctx, granted) // or it ends after its TTL
		}
	}()
	for {
		before, err := s.get(ctx, w)
		if err != nil || before.row.Token != old {
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
			switch {
			case w.Change == lease.Extend && before.lease != clientv3.NoLease:
				_, err = s.client.KeepAliveOnce(ctx, before.lease)
			case granted == clientv3.NoLease:
				granted, err = s.grant(ctx, w.Expiry)
			}
			if err != nil {
				return false, marked(err)
			}
			if granted != clientv3.NoLease {
				ops = append(ops, clientv3.OpPut(alive, "", clientv3.WithLease(granted)))
			}
		}
		response, err := s.client.Txn(ctx).If(compares...).Then(ops...).Commit()
		if err != nil || response.Succeeded {
			return err == nil, marked(err)
		}
	}
}

// grant makes an etcd lease, which shows that a holder is alive.
func (s *Store) grant(ctx context.Context, expiry time.Duration) (clientv3.LeaseID, error) {
	granted, err := s.client.Grant(ctx, seconds(expiry))
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
	all := lease.Bounds{To: 1<<63 - 1}
	found, err := s.read(ctx, []clientv3.Op{s.over(alive, all, clientv3.WithKeysOnly()),
		s.over(number, all, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(int64(max(limit, 0))))})
	rows := found.rows()
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(b.Number, a.Number) })
	return rows, err
}

// The size of a sample: so many runs of so many rows each.
const runs, run = 8, 8

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, within lease.Bounds, full bool, _ time.Duration) (lease.View, error) {
	found, err := s.read(ctx, s.counts(within))
	if err != nil {
		return lease.View{}, err
	}
	next := found.next(within)
	given := min(next-1, within.To) - within.From + 1
	var ops []clientv3.Op
	if full || given <= runs*run {
		ops = append(ops, s.over(alive, within, clientv3.WithKeysOnly()), s.over(number, within))
	} else {
		for range runs { // who is alive has a row, so as many of both kinds tell of all rows of a run
			part := lease.Bounds{From: within.From + rand.Int64N(given), To: within.To}
			ops = append(ops, s.over(alive, part, clientv3.WithKeysOnly(), clientv3.WithLimit(run)), s.over(number, part, clientv3.WithLimit(run)))
		}
	}
	sample, err := s.read(ctx, ops)
	view := lease.NewView(0, sample.rows(), map[int64]int64{within.From: next}, within)
	if !full {
		view.Held = 0
	}
	return view, err
}

// over reads the keys of a kind within bounds.
func (s *Store) over(kind string, within lease.Bounds, opts ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(s.key(kind, within.From), append(opts, clientv3.WithRange(s.key(kind, within.To)+"\x00"))...)
}

// counts reads what decides which number within bounds is new: the counts of holders whose
// bounds begin at or before within.To, and the last row.
func (s *Store) counts(within lease.Bounds) []clientv3.Op {
	return []clientv3.Op{s.over(given, lease.Bounds{To: within.To}),
		s.over(number, within, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(1))}
}

// found is what a transaction read.
type found struct {
	revision int64 // of etcd
	numbers  map[int64]leaserow.Row
	living   map[int64]bool
	given    map[int64]int64
}

func (s *Store) read(ctx context.Context, ops []clientv3.Op) (found, error) {
	response, err := s.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return found{}, marked(err)
	}
	f := found{response.Header.Revision, map[int64]leaserow.Row{}, map[int64]bool{}, map[int64]int64{}}
	for _, part := range response.Responses {
		for _, pair := range part.GetResponseRange().Kvs {
			n, err := numberOf(pair)
			switch kind := strings.TrimPrefix(string(pair.Key), s.prefix); {
			case err != nil:
			case strings.HasPrefix(kind, alive):
				f.living[n] = pair.Lease != int64(clientv3.NoLease)
			case strings.HasPrefix(kind, number):
				f.numbers[n], err = parse(pair)
			default:
				f.given[n], err = parseNumber(pair, pair.Value)
			}
			if err != nil {
				return found{}, err
			}
		}
	}
	return f, nil
}

// next is the least number within bounds that was never given.
func (f found) next(within lease.Bounds) int64 {
	return lease.NewView(0, f.rows(), f.given, within).Next
}

func (f found) rows() (rows []lease.Row) {
	for n, row := range f.numbers {
		rows = append(rows, row.Lease(n, f.living[n]))
	}
	return rows
}
