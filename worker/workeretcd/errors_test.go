//go:build linux

package workeretcd_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

// Errors that pass are marked, so that a start tries again.
func TestPassing(t *testing.T) {
	marked := fmt.Sprintf("%T", lease.Transient(errors.New("it passes")))
	for _, tt := range []struct {
		err    error
		passes bool
	}{
		{rpctypes.ErrGRPCNoLeader, true}, {rpctypes.ErrGRPCLeaderChanged, true}, {rpctypes.ErrGRPCTimeout, true}, {rpctypes.ErrGRPCRequestTooManyRequests, true},
		{rpctypes.ErrGRPCTimeoutDueToLeaderFail, true}, {rpctypes.ErrGRPCTimeoutDueToConnectionLost, true}, {rpctypes.ErrGRPCLeaseNotFound, true},
		{rpctypes.ErrGRPCNoSpace, false}, {rpctypes.ErrGRPCPermissionDenied, false},
	} {
		fails := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
			return tt.err
		}
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}, Logger: zap.NewNop(), MaxUnaryRetries: 1,
			DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(fails)}})
		must(t, err)
		defer client.Close()
		_, _, err = workeretcd.NewStore(client, workeretcd.Config{}).Read(t.Context(), 0, time.Minute)
		if got := fmt.Sprintf("%T", err); err == nil || (got == marked) != tt.passes {
			t.Errorf("%v: got %s, %v; want it marked: %t", tt.err, got, err, tt.passes)
		}
	}
}

// Whichever request of a method is refused, the method fails.
func TestEachRequestIsRefused(t *testing.T) {
	members, left := servertest.StartEtcd(t, 1), 0
	refused := func() error {
		if left--; left == 0 {
			return rpctypes.ErrGRPCPermissionDenied
		}
		return nil
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: servertest.Endpoints(members), Logger: zap.NewNop(), DialOptions: []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if err := refused(); err != nil {
				return err
			}
			return invoke(ctx, method, request, reply, conn, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			if err := refused(); err != nil {
				return nil, err
			}
			return stream(ctx, desc, conn, method, opts...)
		}),
	}})
	must(t, err)
	defer client.Close()
	s := workeretcd.NewStore(client, workeretcd.Config{})
	write := func(token string, change lease.Change) lease.Write {
		return lease.Write{Token: token, Change: change, Expiry: time.Hour, Within: lease.Bounds{To: 9}, Fresh: true}
	}
	swap := func(old, token string, change lease.Change) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) { return s.Swap(ctx, old, write(token, change)) }
	}
	for _, test := range []struct {
		name     string
		requests int
		method   func(ctx context.Context) (done bool, err error)
	}{
		{"Prepare", 1, func(ctx context.Context) (bool, error) { err := s.Prepare(ctx, slog.Default()); return err == nil, err }},
		{"Insert", 3, func(ctx context.Context) (bool, error) { return s.Insert(ctx, write("a", lease.Acquire)) }},
		{"Swap to extend", 3, swap("a", "b", lease.Extend)},
		{"Swap to acquire", 3, swap("b", "c", lease.Acquire)},
		{"Swap to release", 2, swap("c", "d", lease.Release)},
		{"Read", 1, func(ctx context.Context) (bool, error) {
			row, _, err := s.Read(ctx, 0, time.Hour)
			return row != nil, err
		}},
		{"Look", 1, func(ctx context.Context) (bool, error) {
			view, err := s.Look(ctx, lease.Bounds{To: 9}, time.Hour)
			return view.Next == 1 && len(view.Free) == 1, err
		}},
		{"List", 1, func(ctx context.Context) (bool, error) {
			rows, err := s.List(ctx, 0, time.Hour)
			return len(rows) == 1, err
		}},
		{"SwapLayout", 2, func(ctx context.Context) (bool, error) {
			got, err := s.SwapLayout(ctx, "", "x")
			return got == "x", err
		}},
	} {
		for n := range test.requests {
			left = n + 1
			if done, err := test.method(t.Context()); done || err == nil || !strings.Contains(err.Error(), rpctypes.ErrPermissionDenied.Error()) {
				t.Errorf("%s: %t, %v; want that request %d is refused", test.name, done, err, n+1)
			}
		}
		left = test.requests + 1
		if done, err := test.method(t.Context()); !done || err != nil || left != 1 {
			t.Errorf("%s: %t, %v after %d requests; want %d", test.name, done, err, test.requests+1-left, test.requests)
		}
	}
}

// What is restored or deleted is missed.
func TestRewound(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1)...)
	for name, rewind := range map[string]func(key, before string) error{
		"deleted": func(key, _ string) error {
			_, err := client.Delete(t.Context(), key)
			return err
		},
		"restored": func(key, before string) error {
			_, err := client.Put(t.Context(), key, before)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := workeretcd.NewStore(client, workeretcd.Config{Prefix: "/" + name})
			h := holding.Take(t, lease.New(store, lease.Config{Expiry: 400 * time.Millisecond}), 1023)
			key := "/" + name + strings.TrimPrefix(rowKey, workeretcd.DefaultPrefix)
			response, err := client.Get(t.Context(), key)
			must(t, err)
			h.Renew(t)
			must(t, rewind(key, string(response.Kvs[0].Value)))
			if err := h.Loss(t); !errors.Is(err, lease.ErrRewound) || !errors.Is(err, lease.ErrLost) {
				t.Errorf("%v; want ErrRewound", err)
			}
			servertest.Eventually(t, "there is another number", func() bool { g := h.Last(); return g.Held && g.Number == 1 })
			must(t, h.Release(t.Context(), time.Now()))
		})
	}
}

// Rows that are no rows are errors that name them.
func TestForeignRows(t *testing.T) {
	client := connect(t, servertest.StartEtcd(t, 1)...)
	store, ctx := workeretcd.NewStore(client, workeretcd.Config{}), t.Context()
	for _, value := range []string{"", "{}", "7", "nonsense", `{"token":"a","reserved_until":"x"}`} {
		_, err := client.Put(ctx, rowKey, value)
		must(t, err)
		_, _, read := store.Read(ctx, 0, time.Hour)
		_, look := store.Look(ctx, lease.Bounds{To: 1023}, time.Hour)
		for _, err := range []error{read, look} {
			if err == nil || !strings.Contains(err.Error(), rowKey) {
				t.Errorf("%q: %v; want an error that names %s", value, err, rowKey)
			}
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
	if _, err := workeretcd.New(client, lease.Config{}).Lease(ctx, lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}}); err == nil || !strings.Contains(err.Error(), given) {
		t.Errorf("%v; want an error that names %s", err, given)
	}
}

func TestBadInput(t *testing.T) {
	client := clientv3.NewCtxClient(t.Context())
	for name, test := range map[string]struct {
		client *clientv3.Client
		prefix string
		want   string
	}{
		"no client":    {nil, "/a", "client is nil"},
		"slash at end": {client, "/a/", `Prefix is "/a/"`},
		"NUL":          {client, "/a\x00", `Prefix is "/a\x00"`},
		"no UTF-8":     {client, "/a\xff", `Prefix is "/a\xff"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lease.New(workeretcd.NewStore(test.client, workeretcd.Config{Prefix: test.prefix}), lease.Config{}).Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
			if !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "workeretcd: ") {
				t.Errorf("%v; want %s", err, test.want)
			}
		})
	}
}

// An etcd that refuses connections is the client's error at once, with the store.
func TestUnavailable(t *testing.T) {
	client := connect(t, &servertest.Etcd{Endpoint: "http://127.0.0.1:1"})
	_, err := workeretcd.New(client, lease.Config{}).Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
	if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "lease: prepare etcd "+workeretcd.DefaultPrefix) ||
		!strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v; want that the connection was refused, the operation and the store", err)
	}
}
