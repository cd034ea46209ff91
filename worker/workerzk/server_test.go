//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerzk"
)

// server is shared by the tests, each with nodes of its own; nil where there is none.
var server *servertest.ZooKeeper

func TestMain(m *testing.M) {
	if _, err := servertest.Classpath(); err != nil {
		os.Exit(m.Run())
	}
	folder, err1 := os.MkdirTemp("", "uidring-zk")
	address, err2 := servertest.Address()
	var err3 error
	server, err3 = servertest.LaunchZooKeeper(folder, address)
	if err := errors.Join(err1, err2, err3); err != nil {
		panic(err)
	}
	code := m.Run()
	server.Kill()
	os.RemoveAll(folder)
	os.Exit(code)
}

// shared returns the address of the shared server.
func shared(t testing.TB) []string {
	t.Helper()
	if _, err := servertest.Classpath(); err != nil {
		need.Skip(t, err)
	}
	return []string{server.Address}
}

// quiet drops what the client logs.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// connect opens a connection that ends with the test.
func connect(t testing.TB, servers []string, session time.Duration, dial zk.Dialer) *zk.Conn {
	t.Helper()
	if dial == nil {
		dial = net.DialTimeout
	}
	conn, events, err := zk.Connect(servers, session, zk.WithLogger(quiet{}), zk.WithDialer(dial), zk.WithHostProvider(new(workerzk.Hosts)))
	need.Must(t, err)
	go func() {
		for range events {
		}
	}()
	t.Cleanup(conn.Close)
	return conn
}

// ready waits for a session. The machine may be slow.
func ready(t testing.TB, conn *zk.Conn) *zk.Conn {
	t.Helper()
	servertest.Eventually(t, "there is a session", func() bool { return conn.State() == zk.StateHasSession })
	return conn
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// prepared is a store whose nodes are there.
func prepared(t testing.TB, conn *zk.Conn, path string) leasestore.Preparer {
	t.Helper()
	store := workerzk.NewStore(ready(t, conn), workerzk.Config{Path: path})
	need.Must(t, store.Prepare(background(t), slog.New(slog.DiscardHandler)))
	return store
}

var here = lease.Node{Host: "here", Port: "1", Type: lease.NodeActual}

func insert(number int64, token string) leasestore.Write {
	return leasestore.Write{Number: number, Token: token, Until: 100, Change: leasestore.Acquire, Node: here,
		Expiry: time.Minute, Within: leasestore.Range{To: 99}, Fresh: true}
}

var request = lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}}

// inserts makes the row of a number.
func inserts(t *testing.T, s leasestore.Store, number int64, token string) {
	t.Helper()
	if _, done, err := s.Insert(background(t), insert(number, token)); !done || err != nil {
		t.Fatalf("insert %d: %t, %v", number, done, err)
	}
}

// makes makes a node that is open to the world.
func makes(t *testing.T, conn *zk.Conn, path, data string) {
	t.Helper()
	if _, err := conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
}

// deletes deletes nodes, in any goroutine.
func deletes(t *testing.T, conn *zk.Conn, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := conn.Delete(path, -1); err != nil {
			t.Errorf("delete %s: %v", path, err)
		}
	}
}

func hold(t *testing.T, store leasestore.Store) *holdertest.Holder {
	t.Helper()
	config := lease.Config{Node: here, Expiry: 200 * time.Millisecond, Window: time.Hour, Logger: slog.New(slog.DiscardHandler)}
	return holdertest.Take(t, lease.New(store, config), 9)
}

// says checks that err matches target, unless target is nil, and has each part.
func says(t *testing.T, err, target error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || target != nil && !errors.Is(err, target) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %v that says %q", err, target, part)
		}
	}
}

// swap makes a swap of the row of number 0, which should be done or not.
func swap(t *testing.T, s leasestore.Store, old, token string, change leasestore.Change, want bool) {
	t.Helper()
	write := insert(0, token)
	write.Change = change
	if done, err := s.Swap(background(t), old, write); done != want || err != nil {
		t.Fatalf("swap %s for %s: %t, %v; want %t", old, token, done, err, want)
	}
}

// read returns the token of the row of number 0, which should have a state.
func read(t *testing.T, s leasestore.Store, state leasestore.State) (token string) {
	t.Helper()
	row, _, err := s.Read(background(t), 0, time.Minute)
	if err != nil || row == nil || row.State != state {
		t.Fatalf("%+v, %v; want it %s", row, err, state)
	}
	return row.Token
}
