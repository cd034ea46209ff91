package workeretcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// DefaultPrefix is the default of Config.Prefix.
const DefaultPrefix = "/uidring/workers"

// Config configures [NewStore]. Zero fields take their default values. Errors about it match
// [lease.ErrConfig].
type Config struct {
	// Prefix is the prefix of the keys: UTF-8 without NUL that does not end in a slash. Empty
	// means DefaultPrefix. All processes whose ids must differ must use the same Prefix.
	Prefix string
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c Config) Validate() error {
	faults := invalid.Of("workeretcd")
	if strings.HasSuffix(c.Prefix, "/") || strings.ContainsRune(c.Prefix, 0) || !utf8.ValidString(c.Prefix) {
		faults.Add("Prefix", strconv.Quote(c.Prefix), "UTF-8 without NUL that does not end in a slash, such as "+DefaultPrefix)
	}
	return faults.Err()
}

// NewLeaser returns a Leaser for numbers in etcd under DefaultPrefix. NewLeaser itself does not
// contact etcd. For another prefix, pass a store from NewStore to lease.New. Close client after
// closing the last generator.
func NewLeaser(client *clientv3.Client, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(client, Config{}), config)
}

// store is a leasestore.Store in etcd.
type store struct {
	client *clientv3.Client
	prefix string

	mu     sync.Mutex
	unused map[time.Duration]map[clientv3.LeaseID]*time.Timer // etcd leases, by expiry

	known sync.Map // by number, the found of the row that this store wrote last; written and read by write
}

// NewStore returns a store for lease.New that keeps its rows as keys in etcd. It is safe for
// concurrent use.
func NewStore(client *clientv3.Client, config Config) leasestore.Preparer {
	return &store{client: client, prefix: cmp.Or(config.Prefix, DefaultPrefix), unused: map[time.Duration]map[clientv3.LeaseID]*time.Timer{}}
}

func (s *store) String() string { return "etcd " + s.prefix }

// Role returns the arguments of "etcdctl role grant-permission NAME" that grant what a store from [NewStore]
// needs under prefix. An empty prefix means DefaultPrefix.
func Role(prefix string) string { return "readwrite --prefix " + cmp.Or(prefix, DefaultPrefix) + "/" }

var old = regexp.MustCompile(`^([0-2]|3\.[0-3])\.`)

func (s *store) Check() error {
	faults := invalid.Of("workeretcd")
	if s.client == nil {
		faults.Add("client", "nil", "a client from clientv3.New")
	}
	faults.Join(Config{s.prefix}.Validate())
	return faults.Err()
}

// Prepare implements leasestore.Preparer. Its requests fail immediately if no member accepts a
// connection; the client's other requests wait for one. It logs a warning if the member is older than 3.4.
func (s *store) Prepare(ctx context.Context, log *slog.Logger) error {
	first := &etcdserverpb.RangeRequest{Key: []byte(s.prefix + number), Limit: 1, KeysOnly: true}
	_, err := led(s, func() (*etcdserverpb.RangeResponse, error) {
		return etcdserverpb.NewKVClient(s.client.ActiveConnection()).Range(clientv3.WithRequireLeader(ctx), first, grpc.WaitForReady(false))
	})
	if err != nil {
		return s.marked(rpctypes.Error(err)) // which the client's own methods return
	}
	member, err := etcdserverpb.NewMaintenanceClient(s.client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	if err == nil && old.MatchString(member.Version) { // else nobody may ask
		log.WarnContext(ctx, "workeretcd: the server is too old; want etcd 3.4 or later", "version", member.Version, "store", s.String())
	}
	return nil
}

func (s *store) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if old == "" {
		return false, nil // no row has it
	}
	return s.write(ctx, old, w)
}

func (s *store) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if w.Fresh {
		return s.insertFresh(ctx, w)
	}
	done, err = s.write(ctx, "", w)
	return w.Number, done, err
}

// write writes a row whose token is old, on condition that it is unchanged since it was
// read, or written by this store. An empty token is that of no row.
func (s *store) write(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	row, living, count := s.key(number, w.Number), s.key(alive, w.Number), s.key(given, w.Within.From)
	granted := clientv3.NoLease // by this call
	defer func() {
		if granted != clientv3.NoLease && !done && err == nil { // with an error, the transaction may be done
			s.keep(ctx, granted, w.Expiry)
		}
	}()
	reads := []clientv3.Op{clientv3.OpGet(row), clientv3.OpGet(living), clientv3.OpGet(count)}
	before, known := s.recall(w.Number)
	if known = known && w.Change == leasestore.Extend && before.numbers[w.Number].Token == old; !known {
		before, _, err = s.commit(s.txn(ctx).Then(reads...))
	}
	for err == nil && !done && before.numbers[w.Number].Token == old {
		after, held := before.numbers[w.Number].After(w), before.living[w.Number]
		compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(row), "=", before.revisions[row])}
		if known { // revisions come again in an etcd that was restored, and tokens do not
			compares = []clientv3.Cmp{clientv3.Compare(clientv3.Value(row), "=", string(before.numbers[w.Number].JSON())),
				clientv3.Compare(clientv3.LeaseValue(living), "=", held)}
		}
		ops := []clientv3.Op{clientv3.OpPut(row, string(after.JSON()))}
		if old == "" {
			compares = append(compares, clientv3.Compare(clientv3.ModRevision(count), "=", before.revisions[count]))
			ops = append(ops, clientv3.OpPut(count, fmt.Sprint(max(before.given[w.Within.From], w.Number+1))))
		}
		if w.Change == leasestore.Release {
			ops = append(ops, clientv3.OpDelete(living))
		} else {
			switch {
			case w.Change == leasestore.Extend && held != clientv3.NoLease:
				_, err = led(s, func() (*clientv3.LeaseKeepAliveResponse, error) {
					return s.client.KeepAliveOnce(clientv3.WithRequireLeader(ctx), held)
				})
			case granted == clientv3.NoLease:
				granted, err = s.grant(ctx, w.Expiry)
			}
			if err != nil {
				return false, s.marked(err)
			}
			if granted != clientv3.NoLease {
				held, ops = granted, append(ops, clientv3.OpPut(living, "", clientv3.WithLease(granted)))
			}
		}
		before, done, err = s.commit(s.txn(ctx).If(compares...).Then(ops...).Else(reads...))
		if known = false; done && w.Change != leasestore.Release {
			s.known.Store(w.Number, found{numbers: map[int64]leaserow.Row{w.Number: after}, living: map[int64]clientv3.LeaseID{w.Number: held}})
		}
	}
	return done, err
}

// recall returns what a write left behind, once: the next write that is done remembers its own.
func (s *store) recall(n int64) (f found, known bool) {
	if last, ok := s.known.LoadAndDelete(n); ok {
		return last.(found), true
	}
	return found{}, false
}

// grant returns an etcd lease for a holder.
func (s *store) grant(ctx context.Context, expiry time.Duration) (clientv3.LeaseID, error) {
	s.mu.Lock()
	for id, revoking := range s.unused[expiry] {
		delete(s.unused[expiry], id)
		if revoking.Stop() {
			s.mu.Unlock()
			return id, nil
		}
	}
	s.mu.Unlock()
	seconds := (expiry + time.Second - 1) / time.Second
	granted, err := s.client.Grant(clientv3.WithRequireLeader(ctx), int64(seconds))
	if err != nil {
		return clientv3.NoLease, err
	}
	return granted.ID, nil
}

// keep keeps an etcd lease that a write did not need, and revokes it soon if no other write
// does. Most often, another holder was faster, and a start tries another number at once.
func (s *store) keep(ctx context.Context, id clientv3.LeaseID, expiry time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unused[expiry] == nil {
		s.unused[expiry] = map[clientv3.LeaseID]*time.Timer{}
	}
	s.unused[expiry][id] = time.AfterFunc(min(expiry/4, time.Second), func() {
		s.mu.Lock()
		delete(s.unused[expiry], id)
		s.mu.Unlock()
		s.revoke(ctx, id)
	})
}

// revoke ends an etcd lease and deletes its keys, even if ctx is already done. If etcd does not
// answer, the lease expires after its TTL.
func (s *store) revoke(ctx context.Context, granted clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = s.client.Revoke(ctx, granted)
}

func (s *store) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	key := s.prefix + "/layout"
	ctx = clientv3.WithRequireLeader(ctx)
	for {
		response, err := s.client.Get(ctx, key)
		if err != nil {
			return "", s.marked(err)
		}
		remembered, revision := "", int64(0)
		for _, pair := range response.Kvs {
			remembered, revision = string(pair.Value), pair.ModRevision
		}
		if remembered != old || remembered == terms.Layout {
			return remembered, nil
		}
		written, err := led(s, s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, terms.Layout)).Commit)
		if err != nil {
			return "", s.marked(err)
		}
		if written.Succeeded {
			return terms.Layout, nil
		}
	}
}

// marked marks errors that pass when etcd has a leader again, and names a missing right.
func (s *store) marked(err error) error {
	if errors.Is(rpctypes.Error(err), rpctypes.ErrPermissionDenied) {
		return fmt.Errorf("%w; the user's role needs %s, as \"uidringd schema etcd\" prints", err, Role(s.prefix))
	}
	for _, passing := range []error{
		rpctypes.ErrNoLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrTimeout, rpctypes.ErrTooManyRequests,
		rpctypes.ErrTimeoutDueToLeaderFail, rpctypes.ErrTimeoutDueToConnectionLost,
		rpctypes.ErrLeaseNotFound, // it ended since it was read
	} {
		if errors.Is(err, passing) {
			return leasestore.Transient(err)
		}
	}
	return err
}
