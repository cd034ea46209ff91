//go:build linux

package workerzk_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync"
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

// The server of all tests, each with nodes of its own.
var (
	server  *servertest.Member
	sharing sync.Mutex
	folder  string
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "uidring-zk"); err != nil {
		panic(err)
	}
	code := m.Run()
	if server != nil {
		server.Kill()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// shared returns the address of the shared server.
func shared(t testing.TB) []string {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if server == nil {
		server = servertest.ZooKeeperPrograms(t, folder, 1, nil)[0].At(servertest.Addresses(t, 1)[0])
		need.Must(t, server.Launch(context.Background()))
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
	var err error
	servertest.Eventually(t, "the nodes are there", func() bool { // on a slow machine, the connection can end meanwhile
		err = store.Prepare(background(t), slog.New(slog.DiscardHandler))
		return !leasestore.IsTransient(err)
	})
	need.Must(t, err)
	return store
}

var here = lease.Node{Host: "here", Port: "1", Type: lease.NodeActual}

var request = lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}}

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

// extend is a write of the holder of number 0.
func extend(token string) leasestore.Write {
	w := holdertest.Write(0, token)
	w.Change = leasestore.Extend
	return w
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
