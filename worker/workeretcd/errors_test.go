//go:build linux

package workeretcd_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workeretcd"
)

// nowhere is an etcd that refuses connections.
var nowhere = []*servertest.Member{{Address: "127.0.0.1:1"}}

// Errors that pass are marked, so that a start tries again.
func TestPassing(t *testing.T) {
	for _, tt := range []struct {
		err    error
		passes bool
	}{
		{rpctypes.ErrGRPCNoLeader, true}, {rpctypes.ErrGRPCLeaderChanged, true}, {rpctypes.ErrGRPCTimeout, true}, {rpctypes.ErrGRPCRequestTooManyRequests, true},
		{rpctypes.ErrGRPCTimeoutDueToLeaderFail, true}, {rpctypes.ErrGRPCTimeoutDueToConnectionLost, true}, {rpctypes.ErrGRPCLeaseNotFound, true},
		{rpctypes.ErrGRPCNoSpace, false}, {rpctypes.ErrGRPCPermissionDenied, false},
	} {
		client := connect(t, nowhere, func(c *clientv3.Config) { c.MaxUnaryRetries = 1 }, before(func() error { return tt.err }))
		_, _, err := workeretcd.NewStore(client, workeretcd.Config{}).Read(t.Context(), 0, time.Minute)
		if err == nil || leasestore.IsTransient(err) != tt.passes {
			t.Errorf("%v: %v; want it marked: %t", tt.err, err, tt.passes)
		}
	}
}

// Whichever request of a method is refused, the method fails.
func TestEachRequestIsRefused(t *testing.T) {
	var left int
	refused := func() error {
		if left--; left == 0 {
			return rpctypes.ErrGRPCPermissionDenied
		}
		return nil
	}
	client := connect(t, servertest.StartEtcd(t, 1), before(refused))
	s, ctx := workeretcd.NewStore(client, workeretcd.Config{}), t.Context()
	swap := func(old, token string, change leasestore.Change) func() (bool, error) {
		w := holdertest.Write(0, token)
		w.Change = change
		return func() (bool, error) { return s.Swap(ctx, old, w) }
	}
	for _, test := range []struct {
		name   string
		method func() (done bool, err error)
	}{
		{"Prepare", func() (bool, error) { err := s.Prepare(ctx, slog.Default()); return err == nil, err }},
		{"Insert", func() (bool, error) { _, done, err := s.Insert(ctx, holdertest.Write(0, "a")); return done, err }},
		{"Swap to extend", swap("a", "b", leasestore.Extend)},
		{"Swap to acquire", swap("b", "c", leasestore.Acquire)},
		{"Swap to release", swap("c", "d", leasestore.Release)},
		{"Read", func() (bool, error) { row, _, err := s.Read(ctx, 0, time.Hour); return row != nil, err }},
		{"Look", func() (bool, error) {
			view, err := s.Look(ctx, holdertest.Range, true, time.Hour)
			return len(view.Free) == 1, err
		}},
		{"List", func() (bool, error) { rows, err := s.List(ctx, 0, time.Hour); return len(rows) == 1, err }},
		{"SwapLayout", func() (bool, error) {
			got, err := s.SwapLayout(ctx, "", leasestore.Terms{Layout: "x"})
			return got == "x", err
		}},
	} {
		for n := 1; ; n++ {
			left = n
			done, err := test.method()
			if done != (err == nil) || err != nil && !strings.Contains(err.Error(), rpctypes.ErrPermissionDenied.Error()) || left > 0 && (err != nil || n == 1) {
				t.Errorf("%s: %t, %v; want that request %d is refused", test.name, done, err, n)
			}
			if left > 0 {
				break
			}
		}
	}
}

// A value that is not a row is an error that names its key.
func TestForeignRows(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1))
	store, ctx := workeretcd.NewStore(client, workeretcd.Config{}), t.Context()
	for _, value := range []string{"", "{}", "7", "nonsense", `{"token":"a","reserved_until":"x"}`} {
		_, err := client.Put(ctx, rowKey, value)
		must(t, err)
		_, _, read := store.Read(ctx, 0, time.Hour)
		_, look := store.Look(ctx, holdertest.Range, true, time.Hour)
		for _, err := range []error{read, look} {
			need.Error(t, err, nil, rowKey)
		}
	}
	_, err := client.Delete(ctx, rowKey)
	must(t, err)
	_, err = client.Put(ctx, workeretcd.DefaultPrefix+"/number/seven", "{}")
	must(t, err)
	if _, err := store.List(ctx, 0, time.Hour); err != nil {
		t.Errorf("%v; want that keys above all numbers are left alone", err)
	}
	given := workeretcd.DefaultPrefix + "/given/0000000000000000000"
	_, err = client.Put(ctx, given, "many")
	must(t, err)
	_, err = workeretcd.NewLeaser(client, lease.Config{}).Lease(ctx, request)
	need.Error(t, err, nil, given)
}

func TestBadInput(t *testing.T) {
	client := clientv3.NewCtxClient(t.Context())
	for _, test := range []struct {
		client *clientv3.Client
		prefix string
		want   string
	}{
		{nil, "/a", "client is nil"},
		{client, "/a/", `Prefix is "/a/"`},
		{client, "/a\x00", `Prefix is "/a\x00"`},
		{client, "/a\xff", `Prefix is "/a\xff"`},
	} {
		config := workeretcd.Config{Prefix: test.prefix}
		err := workeretcd.NewStore(test.client, config).Check()
		need.Error(t, err, lease.ErrConfig, "workeretcd: invalid config: "+test.want)
		if wrong := config.Validate(); errors.Is(wrong, lease.ErrConfig) != strings.HasPrefix(test.want, "Prefix") {
			t.Errorf("%q: %v", test.prefix, wrong)
		}
	}
}

// An etcd that refuses connections is the client's error at once, with the store.
func TestUnavailable(t *testing.T) {
	client := connect(t, nowhere)
	_, err := workeretcd.NewLeaser(client, lease.Config{}).Lease(t.Context(), request)
	if need.Error(t, err, nil, "lease: prepare etcd "+workeretcd.DefaultPrefix, "connection refused"); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v; want it at once", err)
	}
}

// A member that is too old is named.
func TestWarnsOfVersion(t *testing.T) {
	members := servertest.StartEtcd(t, 1)
	for version, warned := range map[string]bool{"2.3.8": true, "3.3.27": true, "3.4.0": false, "3.10.0": false, "": false} {
		states := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			err := invoke(ctx, method, req, reply, conn, opts...)
			if r, ok := reply.(*etcdserverpb.StatusResponse); ok {
				r.Version = version
			}
			return err
		}
		client := connect(t, members, func(c *clientv3.Config) { c.DialOptions = []grpc.DialOption{grpc.WithUnaryInterceptor(states)} })
		var out logged.Text
		must(t, workeretcd.NewStore(client, workeretcd.Config{}).Prepare(t.Context(), out.Logger()))
		if (out.Count("level=WARN", "too old", "version="+version) == 1) != warned {
			t.Errorf("%s: logged %s, want a warning: %t", version, &out, warned)
		}
	}
}
