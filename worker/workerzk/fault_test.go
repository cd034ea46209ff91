//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
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

// TestCutDuringCreate: a request without an answer ends when the client gives the connection up.
// The token in the node shows that the create was done. Nobody holds the number.
func TestCutDuringCreate(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 4*time.Second)
	store := prepared(t, conn, path)
	w.between.Store(&between{`"token":"mine"`, func() { w.deaf.Store(true) }})
	_, done, err := store.Insert(background(t), holdertest.Fresh("mine"))
	if done {
		t.Error("the insert is done without an answer")
	}
	need.Error(t, err, zk.ErrConnectionClosed, path+"/number/0000000000000000000", servers[0])
	w.cut(false)
	servertest.Eventually(t, "the row of the token is seen, and nobody holds it", func() bool {
		row, _, err := store.Read(background(t), 0, time.Minute)
		return err == nil && row != nil && row.Token == "mine" && row.Until == 100 && row.State == leasestore.StateExpired
	})
	holdertest.Inserts(t, store, holdertest.Fresh("again"), 1)
}

// TestMethodsReturn: go-zookeeper's methods have no context; the store's return when
// theirs ends, with an error that says what was asked of whom.
func TestMethodsReturn(t *testing.T) {
	t.Parallel()
	path := newPath()
	read := func(s leasestore.Store) error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, _, err := s.Read(ctx, 0, time.Minute)
		return err
	}
	servers := shared(t)
	conn, w := wired(t, servers, 20*time.Second)
	store := prepared(t, conn, path)
	w.deaf.Store(true)
	need.Error(t, read(store), context.DeadlineExceeded, "workerzk: ", path, servers[0])
	w.cut(true)
	servertest.Eventually(t, "the connection is gone", func() bool { return conn.State() != zk.StateHasSession })
	err := read(store)
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, zk.ErrNoServer) {
		t.Errorf("%v; want DeadlineExceeded or ErrNoServer", err)
	}
	need.Error(t, err, nil, "workerzk: ", path, servers[0])

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer silent.Close()
	conn = connect(t, []string{silent.Addr().String()}, 20*time.Second, nil)
	need.Error(t, read(workerzk.NewStore(conn, workerzk.Config{Path: path})), context.DeadlineExceeded, "in state")
}

// TestNoServer: if no server can be reached, a start fails when all were tried. It does
// not retry for half a minute.
func TestNoServer(t *testing.T) {
	t.Parallel()
	conn, w := wired(t, []string{"127.0.0.1:1", "127.0.0.1:2"}, 20*time.Second)
	w.cut(true)
	began := time.Now()
	_, err := workerzk.NewLeaser(conn, lease.Config{}).Lease(background(t), request)
	took := time.Since(began)
	t.Logf("refused after %v", took)
	if need.Error(t, err, zk.ErrNoServer, "workerzk: get /uidring/workers", "127.0.0.1:"); took > 20*time.Second {
		t.Errorf("%v; want the error at once", took)
	}
}

// TestReconnects: after a lost connection, the client says once that there is no server,
// before it tries any. A request asks again.
func TestReconnects(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	first, again, may := make(chan net.Conn, 1), make(chan struct{}), make(chan struct{})
	conn := connect(t, shared(t), 20*time.Second, func(network, address string, timeout time.Duration) (net.Conn, error) {
		n := dials.Add(1)
		if n == 2 {
			close(again)
			<-may
			return nil, errors.New("cut")
		}
		c, err := net.DialTimeout(network, address, timeout)
		if n == 1 && err == nil {
			first <- c
		}
		return c, err
	})
	store := prepared(t, conn, newPath())
	(<-first).Close()
	<-again
	read := make(chan error)
	go func() {
		_, _, err := store.Read(background(t), 0, time.Minute)
		read <- err
	}()
	time.Sleep(20 * time.Millisecond) // most often the request has come by then, and gets the first answer
	close(may)
	if err := <-read; err != nil {
		t.Errorf("%v; want that the request asks again", err)
	}
}

// TestPassing: errors that pass with another connection or session are marked.
func TestPassing(t *testing.T) {
	t.Parallel()
	conn := ready(t, connect(t, shared(t), 20*time.Second, nil))
	for _, tt := range []struct {
		err    error
		passes bool
	}{
		{zk.ErrConnectionClosed, true}, {zk.ErrSessionExpired, true}, {zk.ErrSessionMoved, true}, {zk.ErrNoServer, true},
		{&net.OpError{Op: "read", Err: io.EOF}, true}, {zk.ErrNoAuth, false}, {zk.ErrNodeExists, false},
	} {
		err := workerzk.Failed(background(t), conn, tt.err)
		if !errors.Is(err, tt.err) || leasestore.IsTransient(err) != tt.passes {
			t.Errorf("%T: %v; want it marked: %t", err, err, tt.passes)
		}
	}
}

// TestRefused: what cannot work is refused before ZooKeeper is called, with all
// faults at once.
func TestRefused(t *testing.T) {
	for _, path := range []string{"/", "x", "x/y", "/x/", "//x", "/x/../y", "/x\x00", "/\xff"} {
		config := workerzk.Config{Path: path}
		need.Error(t, workerzk.NewStore(nil, config).Check(), lease.ErrConfig, fmt.Sprintf("Path is %q", path), "conn is nil")
		need.Error(t, config.Validate(), lease.ErrConfig, fmt.Sprintf("Path is %q", path))
	}
	_, err := workerzk.NewLeaser(nil, lease.Config{}).Lease(background(t), request)
	need.Error(t, err, lease.ErrConfig, "workerzk: invalid config: conn is nil")
	if err := errors.Join(workerzk.NewStore(new(zk.Conn), workerzk.Config{}).Check(), workerzk.Config{}.Validate()); err != nil {
		t.Error(err)
	}
}

// TestForeignNodes: nodes that are not the store's are named.
func TestForeignNodes(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn := connect(t, servers, 20*time.Second, nil)
	store := prepared(t, conn, path)
	foreign := path + "/number/0000000000000000007"
	makes(t, conn, foreign, "x")
	for name, data := range map[string]string{"x": "1", "0000000000000000000": "x", "0000000000000000001": "-1", "-1": "1"} {
		odd := path + "/given/" + name
		makes(t, conn, odd, data)
		_, err := store.Look(background(t), leasestore.Range{To: 5}, true, time.Minute)
		need.Error(t, err, nil, odd, "want a number")
		if name == "0000000000000000000" {
			_, _, err = store.Insert(background(t), holdertest.Write(1, "a"))
			need.Error(t, err, nil, odd, "want a number")
		}
		deletes(t, conn, odd)
	}
	_, look := store.Look(background(t), leasestore.Range{To: 9}, true, time.Minute)
	_, _, read := store.Read(background(t), 7, time.Minute)
	_, swap := store.Swap(background(t), "x", holdertest.Write(7, "a"))
	for _, err := range []error{look, read, swap} {
		need.Error(t, err, nil, foreign)
	}
}

// TestSessionExpiry: go-zookeeper replaces an expired session in silence, and the
// ephemeral nodes are gone. If nobody takes the number, the holder makes its node again.
func TestSessionExpiry(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 400*time.Millisecond)
	h := hold(t, prepared(t, conn, path))
	session := conn.SessionID()
	w.cut(true)
	other := prepared(t, connect(t, servers, 20*time.Second, nil), path)
	is := func(state leasestore.State) func() bool {
		return func() bool {
			row, _, err := other.Read(background(t), 0, time.Minute)
			return err == nil && row != nil && row.State == state
		}
	}
	servertest.Eventually(t, "the session expires", is(leasestore.StateExpired))
	w.cut(false)
	servertest.Eventually(t, "the holder is alive again", is(leasestore.StateHeld))
	h.Kept(t)
	if ready(t, conn).SessionID() == session {
		t.Error("the session did not expire")
	}
}

// TestAllNodesLost: a running holder takes a number again after all nodes were lost, though no start makes their parents.
func TestAllNodesLost(t *testing.T) {
	t.Parallel()
	conn, path := ready(t, connect(t, shared(t), 20*time.Second, nil)), newPath()
	h := holdertest.Take(t, lease.New(workerzk.NewStore(conn, workerzk.Config{Path: path}), lease.Config{Expiry: 400 * time.Millisecond}), 1023)
	var remove func(path string)
	remove = func(path string) {
		names, _, _ := conn.Children(path)
		for _, name := range names {
			remove(path + "/" + name)
		}
		_ = conn.Delete(path, -1) // the holder may write meanwhile
	}
	for exists := true; exists; exists, _, _ = conn.Exists(path) {
		remove(path)
	}
	lost := false
	h.Await(t, "the holder has a number again", func(g lease.Grant) bool {
		lost = lost || errors.Is(g.Err, lease.ErrRewound)
		return lost && g.Held
	})
}
