//go:build linux

package segmentredis_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
)

func TestReplica(t *testing.T) {
	master := start(t)
	open(t, master.client(t))
	for _, readOnly := range []string{"yes", "no"} {
		client := start(t, "--replicaof", strings.Replace(master.Address(), ":", " ", 1), "--replica-read-only", readOnly).client(t)
		store := segmentredis.New(client, segmentredis.Config{})
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		_, listed := store.List(t.Context())
		_, raised := store.Raise(t.Context(), "orders", 1000)
		_, returned := store.Return(t.Context(), "orders", 51, 101)
		for _, err := range []error{err, listed, raised, returned, store.Create(t.Context(), "invoices", 1, 1)} {
			if !redis.HasErrorPrefix(err, "READONLY") || !strings.Contains(err.Error(), "the server is a replica") {
				t.Errorf("replica-read-only %s: %v, want the server's reply, explained", readOnly, err)
			}
		}
	}
}

// A master becomes a replica, and its address leads to the new master, while connections to the
// old one stay. The next request is done.
func TestDemoted(t *testing.T) {
	s := start(t, "--repl-diskless-sync-delay", "0")
	client := s.client(t)
	store := open(t, client)
	replica := start(t, "--replicaof", strings.Replace(s.Address(), ":", " ", 1))
	servertest.Eventually(t, "the replica has the counter", func() bool {
		return replica.client(t).Exists(t.Context(), segmentredis.DefaultPrefix+":next").Val() == 1
	})
	idle := []*redis.Conn{client.Conn(), client.Conn(), client.Conn()}
	for _, conn := range idle {
		must(t, conn.Ping(t.Context()).Err())
	}
	for _, conn := range idle {
		must(t, conn.Close())
	}
	replica.Command(t, "REPLICAOF NO ONE")
	s.Command(t, "REPLICAOF "+strings.Replace(replica.Address(), ":", " ", 1))
	s.Moves(replica.Redis)
	want(t, store, 1, 101)
}

// A user with the rights of ACL and no others can do all that a service and an operator do. An error about a
// missing right names them.
func TestPermissions(t *testing.T) {
	s := start(t, servertest.Durable...)
	s.Command(t, "ACL SETUSER ids on >secret "+segmentredis.ACL(""))
	client := s.client(t, func(o *redis.Options) { o.Username, o.Password = "ids", "secret" })
	must(t, client.Ping(t.Context()).Err()) // as uidringd does
	var out logged.Text
	store := segmentredis.New(client, segmentredis.Config{Logger: out.Logger()})
	for range 2 {
		gen, err := segment.New(t.Context(), store, "orders", segment.Config{Create: true, Logger: out.Logger()})
		must(t, err)
		_, err = gen.Next()
		must(t, err)
		must(t, gen.Close())
	}
	if now, err := store.Raise(t.Context(), "orders", 500); now != 500 || err != nil {
		t.Error(now, err)
	}
	if counters, err := store.List(t.Context()); len(counters) != 1 || err != nil {
		t.Error(counters, err)
	}
	if out.Count("level=WARN") > 0 {
		t.Error(&out)
	}
	s.Command(t, "ACL SETUSER ids -hset")
	_, err := store.Raise(t.Context(), "orders", 900)
	wantErr(t, err, nil, "the user needs "+segmentredis.ACL(""))
}

// A client without TLS at a port that expects it is told so.
func TestPlainToTLS(t *testing.T) {
	address, dir := servertest.Addresses(t, 1)[0], t.TempDir()
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	servertest.Certify(t, cert, key, 1)
	start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	_, err = segmentredis.New(client, segmentredis.Config{}).Raise(t.Context(), "orders", 9)
	wantErr(t, err, nil, "want rediss://")
}

// answering returns a store on a server that answers each command by a function.
func answering(t *testing.T, answer func(cmd redis.Cmder) error) *segmentredis.Store {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { client.Close() })
	client.AddHook(hook(answer))
	return segmentredis.New(client, segmentredis.Config{Logger: slog.New(slog.DiscardHandler)})
}

type hook func(cmd redis.Cmder) error

func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error { return h(cmd) }
}

func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A server that hangs holds nobody up beyond its context. It is in virtual time.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := answering(t, func(redis.Cmder) error { time.Sleep(time.Hour); return nil })
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := store.List(ctx)
		again, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, warned := store.Reserve(again, "orders", 1) // it reads the settings first
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(warned, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("%v, %v after %v; want DeadlineExceeded after 1s each", err, warned, time.Since(began))
		}
		time.Sleep(10 * time.Hour) // the client returns
	})
}

// If the reply is not one that a script returns, the error names the store.
func TestOddAnswers(t *testing.T) {
	for _, reply := range []any{[]any{}, []any{"done"}, []any{"done", "x", "1"}, []any{"done", "1", "x"}} {
		store := answering(t, func(cmd redis.Cmder) error {
			if script, ok := cmd.(interface{ SetVal(val any) }); ok { // the settings have another type
				script.SetVal(reply)
			}
			return nil
		})
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		_, raised := store.Raise(t.Context(), "orders", 1)
		wantErr(t, err, segment.ErrUnusable, "redis {uidring}:segments answered")
		if number := len(reply.([]any)) == 3 && reply.([]any)[1] == "1"; errors.Is(raised, segment.ErrUnusable) == number {
			t.Errorf("%q: Raise() = %v", reply, raised)
		}
	}
}

// What is wrong with a counter is an error that names it, and not that the server is unavailable.
func TestWrongCounter(t *testing.T) {
	client := start(t).client(t)
	store := open(t, client)
	must(t, store.Create(t.Context(), "last", 1<<62, 1<<62))
	_, _, err := store.Reserve(t.Context(), "last", 0)
	wantErr(t, err, segment.ErrUsedUp, "too high for 4611686018427387904 more")
	_, _, err = store.Reserve(t.Context(), "orders", -1)
	wantErr(t, err, nil, "-1 ids")
	do(t, client, "CONFIG SET maxmemory 1")
	_, _, err = store.Reserve(t.Context(), "orders", 1)
	if do(t, client, "CONFIG SET maxmemory 0"); err == nil || errors.Is(err, segment.ErrUsedUp) || errors.Is(err, segment.ErrUnusable) {
		t.Errorf("without memory: %v, want that of the server", err)
	}
	do(t, client, "DEL "+next, "SET "+next+" 5")
	_, err = segment.New(t.Context(), segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
	if wantErr(t, err, segment.ErrUnusable, "WRONGTYPE"); errors.Is(err, uid.ErrUnavailable) {
		t.Errorf("%v; want that the server is not unavailable", err)
	}
	_, _, err = store.Reserve(t.Context(), "orders", 1)
	wantErr(t, err, segment.ErrUnusable, `"orders" in redis`)
	var log logged.Text
	do(t, client, "DEL "+next+" "+tags, "HSET "+next+" orders 77")
	store = segmentredis.New(client, segmentredis.Config{Logger: log.Logger()})
	if now, err := store.Raise(t.Context(), "orders", 1); now != 77 || err != nil {
		t.Errorf("Raise() = %d, %v, want 77", now, err)
	}
	servertest.Eventually(t, "a warning", func() bool { return log.Count("record of a counter was lost", "step=1000") == 1 })
	for _, commands := range [][]string{nil, {"DEL " + tags}} { // the first loses nothing
		do(t, client, commands...)
		_, err := store.Raise(t.Context(), "orders", 78)
		must(t, err)
	}
	servertest.Eventually(t, "another warning", func() bool { return log.Count("record of a counter was lost", "step=1000") == 2 })
	if log.Count("") != 2 {
		t.Errorf("logged %s, want two warnings", &log)
	}

	// Raise keeps the step of a record, and no number is low enough to lower a counter.
	must(t, store.Create(t.Context(), "parcels", 77, 7))
	for _, least := range []int64{80, math.MinInt64} {
		if now, err := store.Raise(t.Context(), "parcels", least); now != 80 || err != nil {
			t.Errorf("Raise(%d) = %d, %v, want 80", least, now, err)
		}
	}
	if first, n, err := store.Reserve(t.Context(), "parcels", 0); first != 80 || n != 7 || err != nil {
		t.Errorf("Reserve() = %d, %d, %v, want the step 7", first, n, err)
	}
}

func TestUnusable(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer client.Close()
	for want, store := range map[string]*segmentredis.Store{
		"client is nil":      segmentredis.New(nil, segmentredis.Config{}),
		`Prefix is "orders"`: segmentredis.New(client, segmentredis.Config{Prefix: "orders"}),
	} {
		_, _, err := store.Reserve(t.Context(), "orders", 1)
		wantErr(t, err, uid.ErrConfig, want)
	}
	store := segmentredis.New(client, segmentredis.Config{})
	_, empty := store.Return(t.Context(), "orders", 5, 5)
	_, low := store.Return(t.Context(), "orders", 0, 5)
	for _, err := range []error{
		empty, low,
		store.Create(t.Context(), "", 1, 1),
		store.Create(t.Context(), "orders", 0, 1),
		store.Create(t.Context(), "orders", 1, 0),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "segment") {
			t.Errorf("%v, want an error about the arguments", err)
		}
	}
}
