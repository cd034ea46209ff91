//go:build linux

package workeretcd_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workeretcd"
)

var must = need.Must

// Of the number 0.
const (
	rowKey   = workeretcd.DefaultPrefix + "/number/0000000000000000000"
	aliveKey = workeretcd.DefaultPrefix + "/alive/0000000000000000000"
)

var request = lease.Request{Limit: holdertest.Range.To, Clock: time.Now, Granted: func(lease.Grant) {}}

// connect returns a client of members. It logs nothing.
func connect(t testing.TB, members []*servertest.Member, change ...func(*clientv3.Config)) *clientv3.Client {
	t.Helper()
	config := clientv3.Config{Endpoints: servertest.Hosts(members), Logger: zap.NewNop()}
	for _, f := range change {
		f(&config)
	}
	client, err := clientv3.New(config)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

// take takes a number, by a holder that looks at its row often.
func take(t *testing.T, client *clientv3.Client, opts ...lease.Config) *holdertest.Holder {
	t.Helper()
	return holdertest.Take(t, workeretcd.NewLeaser(client, holdertest.Merge(append([]lease.Config{{Expiry: 400 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}}}, opts...)...)), 1023)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// before has a client call f before each request that it sends. With an error, it does not send
// the request.
func before(f func() error) func(*clientv3.Config) {
	return func(c *clientv3.Config) {
		c.DialOptions = append(c.DialOptions,
			grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if err := f(); err != nil {
					return err
				}
				return invoke(ctx, method, request, reply, conn, opts...)
			}),
			grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				stream, err := open(ctx, desc, conn, method, opts...)
				return hookedStream{stream, f}, err
			}))
	}
}

type hookedStream struct {
	grpc.ClientStream
	before func() error
}

func (s hookedStream) SendMsg(m any) error {
	if err := s.before(); err != nil {
		return err
	}
	return s.ClientStream.SendMsg(m)
}

func TestSuite(t *testing.T) {
	members := servertest.StartEtcd(t, 1, "--heartbeat-interval", "20", "--election-timeout", "200") // whose shortest TTL is a second
	var sent sync.Map                                                                                // by the store's name
	leasetest.Suite{
		Expiry: time.Second,
		Open: func(t *testing.T) leasetest.Opener {
			prefix, requests := "/"+t.Name(), new(atomic.Int64)
			sent.Store("etcd "+prefix, requests)
			return func(t *testing.T) leasestore.Store {
				counted := before(func() error { requests.Add(1); return nil })
				return workeretcd.NewStore(connect(t, members, counted), workeretcd.Config{Prefix: prefix})
			}
		},
		Delete: func(t *testing.T, s leasestore.Store, number int64) {
			_, err := connect(t, members).Delete(t.Context(), fmt.Sprintf("%s/number/%019d", strings.TrimPrefix(s.String(), "etcd "), number))
			must(t, err)
		},
		Requests: func(_ *testing.T, s leasestore.Store) int64 {
			requests, _ := sent.Load(s.String())
			return requests.(*atomic.Int64).Load()
		},
	}.Run(t)
}

// A user with the documented permission and no other can do all that a service does. An error about a
// missing permission names it.
func TestPermission(t *testing.T) {
	members, ctx := servertest.StartEtcd(t, 1), t.Context()
	admin := connect(t, members)
	kind, key, _ := strings.Cut(workeretcd.Role(""), " --prefix ")
	access := clientv3.PermissionType(authpb.Permission_Type_value[strings.ToUpper(kind)])
	doc, err := os.ReadFile("doc.go")
	must(t, err)
	if !strings.Contains(string(doc), "grant-permission ids "+workeretcd.Role("")+"\n") {
		t.Error("doc.go shows another permission")
	}
	for _, user := range []string{"root", "ids", "nobody"} {
		_, err1 := admin.UserAdd(ctx, user, "secret")
		_, err2 := admin.RoleAdd(ctx, user)
		_, err3 := admin.UserGrantRole(ctx, user, user)
		must(t, errors.Join(err1, err2, err3))
	}
	_, err1 := admin.RoleGrantPermission(ctx, "ids", key, clientv3.GetPrefixRangeEnd(key), access)
	_, err2 := admin.AuthEnable(ctx)
	must(t, errors.Join(err1, err2))
	client := connect(t, members, func(c *clientv3.Config) { c.Username, c.Password = "ids", "secret" })
	lifecycle.Run(t, func(config lease.Config) *lease.Leaser { return workeretcd.NewLeaser(client, config) })

	store := workeretcd.NewStore(connect(t, members, func(c *clientv3.Config) { c.Username, c.Password = "nobody", "secret" }), workeretcd.Config{})
	_, _, read := store.Read(ctx, 0, time.Minute)
	for _, err := range []error{store.Prepare(ctx, slog.Default()), read} {
		need.Error(t, err, nil, "the user's role needs "+workeretcd.Role(""))
	}
}

// While there is no leader, holders keep what they have; then they go on.
func TestLeaderKilled(t *testing.T) {
	members := servertest.StartEtcd(t, 3)
	client := connect(t, members)
	h := take(t, client)
	for range 2 {
		var killed *servertest.Member
		servertest.Eventually(t, "there is a leader", func() bool { // a member that stands still for a second loses its leader
			for _, m := range members {
				if status, err := client.Status(t.Context(), m.Endpoint); err == nil && status.Leader == status.Header.MemberId {
					killed = m
				}
			}
			return killed != nil
		})
		killed.Kill()
		h.Renew(t)
		if n := take(t, client).Last().Number; n == h.Last().Number {
			t.Errorf("number %d is held twice", n)
		}
		killed.Restart(t)
	}
	h.Kept(t)
	members[1].Kill()
	members[2].Kill()
	alone := workeretcd.NewStore(connect(t, members[:1]), workeretcd.Config{})
	servertest.Eventually(t, "the member says that it has no leader", func() bool {
		_, _, err := alone.Read(t.Context(), 0, time.Minute)
		return errors.Is(err, rpctypes.ErrNoLeader)
	})
}

// What a member without a leader refuses, another member is asked at once: whichever requests are refused, a start
// and renewals succeed.
func TestMemberWithoutLeader(t *testing.T) {
	members := servertest.StartEtcd(t, 3)
	slow := regexp.MustCompile("leader changed|timed out|no answer within|deadline exceeded") // a slow machine changes its leader
	for refused := range int64(2) {
		var requests atomic.Int64
		client := connect(t, members, before(func() error {
			if requests.Add(1)%2 == refused {
				return rpctypes.ErrGRPCNoLeader
			}
			return nil
		}))
		h := take(t, client, lease.Config{Expiry: time.Hour, Window: time.Hour})
		for range 3 {
			h.Renew(t)
		}
		for _, g := range h.History() {
			if g.Err != nil && !slow.MatchString(g.Err.Error()) {
				t.Error(g.Err)
			}
		}
	}
}

// The count of numbers given is never lowered, so that it outlives rows: not by a smaller
// number that is asked for, nor by one who inserts at the same time.
func TestGivenIsKept(t *testing.T) {
	members, ctx := servertest.StartEtcd(t, 1), t.Context()
	client := connect(t, members)
	store := workeretcd.NewStore(client, workeretcd.Config{})
	other := workeretcd.NewStore(connect(t, members), workeretcd.Config{})
	insert := func(s leasestore.Store, n int64) { holdertest.Inserts(t, s, holdertest.Write(n, fmt.Sprint(n)), n) }
	insert(store, 5)
	insert(store, 2)
	client.KV = &hooked{client.KV, 2, func() { insert(other, 8) }} // between what it reads and what it writes
	insert(store, 3)
	_, err := client.Delete(ctx, workeretcd.DefaultPrefix+"/number/", clientv3.WithPrefix())
	must(t, err)
	if view, err := store.Look(ctx, holdertest.Range, true, time.Hour); err != nil || view.Next != 9 {
		t.Errorf("%+v, %v; want 9 to be the next number", view, err)
	}
	client.KV = &hooked{client.KV, 2, func() {
		nine := holdertest.Write(9, "9")
		nine.Within.From = 7 // a range within the other
		holdertest.Inserts(t, other, nine, 9)
		_, err := client.Delete(ctx, workeretcd.DefaultPrefix+"/number/", clientv3.WithPrefix())
		must(t, err)
	}}
	holdertest.Inserts(t, store, holdertest.Fresh("fresh"), 10) // beside one that is given
	_, err = client.Delete(ctx, workeretcd.DefaultPrefix+"/number/", clientv3.WithPrefix())
	must(t, err)
	for _, from := range []int64{0, 7} { // a range within another knows what was given in the other
		if view, err := store.Look(ctx, leasestore.Range{From: from, To: 1023}, true, time.Hour); err != nil || view.Next != 11 {
			t.Errorf("from %d: %+v, %v; want 11 to be the next number", from, view, err)
		}
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
