//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerzk"
)

// TestCutDuringCreate: the connection is cut during a create, before its reply. The
// token in the node shows that the create was done.
func TestCutDuringCreate(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 20*time.Second)
	store, other := prepared(t, conn, path), prepared(t, connect(t, servers, 20*time.Second, nil), path)

	// Nothing is received once the row's transaction is sent. The connection is cut
	// when the row is there.
	w.last.Store("mine")
	answered := make(chan error, 1)
	go func() {
		for {
			row, _, err := other.Read(background(t), 0, time.Minute)
			if err != nil || row != nil {
				w.cut(false)
				answered <- err
				return
			}
		}
	}()
	done, err := store.Insert(background(t), insert(0, "mine"))
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if done || err == nil {
		t.Fatalf("insert: %t, %v; want its answer to be lost", done, err)
	}
	says(t, err, nil, path+"/number/0000000000000000000", servers[0])
	ready(t, conn)
	row, _, err := store.Read(background(t), 0, time.Minute)
	if err != nil || row == nil || row.Token != "mine" || row.Until != 100 {
		t.Fatalf("read: %+v, %v; want the row of the token", row, err)
	}
	if done, err := store.Insert(background(t), insert(0, "again")); done || err != nil {
		t.Errorf("insert again: %t, %v", done, err)
	}
}

// TestMethodsReturn: go-zookeeper's methods have no context; the store's return when
// theirs ends, with an error that says what was asked of whom.
func TestMethodsReturn(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 20*time.Second)
	store := prepared(t, conn, path)
	for name, fault := range map[string]func(){
		"no answer": func() { w.deaf.Store(true) },
		"no connection": func() {
			w.cut(true)
			servertest.Eventually(t, "the connection is gone", func() bool { return conn.State() != zk.StateHasSession })
		},
	} {
		fault()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, _, err := store.Read(ctx, 0, time.Minute)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, zk.ErrNoServer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), servers[0]) ||
			strings.Count(err.Error(), "workerzk: ") != 1 {
			t.Errorf("%s: %v; want the end of the context, the node and the server", name, err)
		}
		w.cut(false)
		ready(t, conn)
	}
}

// TestNoServer: if no server can be reached, a start fails when all were tried. It does
// not retry for half a minute.
func TestNoServer(t *testing.T) {
	t.Parallel()
	conn, w := wired(t, []string{"127.0.0.1:1", "127.0.0.1:2"}, 20*time.Second)
	w.cut(true)
	for name, leaser := range map[string]*lease.Leaser{
		"/uidring/workers": workerzk.New(conn, lease.Config{}), "/": workerzk.Leaf(conn, "orders", 8080, workerzk.LeafConfig{}),
	} {
		began := time.Now()
		_, err := leaser.Lease(background(t), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
		took := time.Since(began)
		t.Logf("refused after %v", took)
		if !errors.Is(err, zk.ErrNoServer) || !strings.Contains(err.Error(), "workerzk: get "+name) ||
			!strings.Contains(err.Error(), "127.0.0.1:") || took > 20*time.Second {
			t.Errorf("%v after %v; want ErrNoServer at once, with the node and a server", err, took)
		}
	}
}

// TestSilentServer: a request ends with its context while a server does not answer.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	store := workerzk.NewStore(connect(t, []string{listener.Addr().String()}, 20*time.Second, nil), workerzk.Config{Path: newPath()})
	if _, _, err := store.Read(ctx, 0, time.Minute); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in state") {
		t.Errorf("%v; want DeadlineExceeded, and the state", err)
	}
}

// TestDeadConnection: a request without an answer ends when the client gives the
// connection up, and the next one has another connection.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 400*time.Millisecond)
	store := prepared(t, conn, path)
	w.deaf.Store(true)
	if _, _, err := store.Read(background(t), 0, time.Minute); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("%v; want ErrConnectionClosed", err)
	}
	w.cut(false)
	servertest.Eventually(t, "the store answers", func() bool {
		_, _, err := store.Read(background(t), 0, time.Minute)
		return err == nil
	})
}

// TestSilentServerOfLeaf: a start that may take for ever ends after half a minute. It is in
// virtual time.
func TestSilentServerOfLeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(string, string, time.Duration) (net.Conn, error) {
			conn, server := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			return conn, nil
		}
		conn := connect(t, []string{"127.0.0.1:1"}, 20*time.Second, silent)
		s := workerzk.LeafStore(conn, "orders", 8080, workerzk.LeafConfig{Address: "10.0.0.1"})
		began := time.Now()
		if _, err := s.Assign(context.Background(), 9); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v; want DeadlineExceeded after 30s", err, time.Since(began))
		}
		conn.Close()
		time.Sleep(10 * time.Minute) // the client gives the connection up
	})
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
	marked := fmt.Sprintf("%T", lease.Transient(errors.New("it passes")))
	for _, tt := range []struct {
		err    error
		passes bool
	}{
		{zk.ErrConnectionClosed, true}, {zk.ErrSessionExpired, true}, {zk.ErrSessionMoved, true}, {zk.ErrNoServer, true},
		{&net.OpError{Op: "read", Err: io.EOF}, true}, {zk.ErrNoAuth, false}, {zk.ErrNodeExists, false},
	} {
		err := workerzk.Failed(background(t), conn, tt.err)
		if !errors.Is(err, tt.err) || (fmt.Sprintf("%T", err) == marked) != tt.passes {
			t.Errorf("%T: %v; want it marked: %t", err, err, tt.passes)
		}
	}
}

// TestRefused: what cannot work is refused before ZooKeeper is called, with all
// faults at once.
func TestRefused(t *testing.T) {
	for _, path := range []string{"/", "x", "x/y", "/x/", "//x", "/x/../y", "/x\x00", "/\xff"} {
		says(t, workerzk.NewStore(nil, workerzk.Config{Path: path}).Check(), lease.ErrConfig, fmt.Sprintf("Path is %q", path), "conn is nil")
	}
	_, err := workerzk.New(nil, lease.Config{}).Lease(background(t), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}})
	says(t, err, lease.ErrConfig, "workerzk: invalid config: conn is nil")
	if err := workerzk.NewStore(new(zk.Conn), workerzk.Config{}).Check(); err != nil {
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
	if _, err := conn.Create(foreign, []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"x": "1", "0000000000000000000": "x", "0000000000000000001": "-1", "-1": "1"} {
		odd := path + "/given/" + name
		if _, err := conn.Create(odd, []byte(data), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		_, err := store.Look(background(t), lease.Bounds{To: 5}, time.Minute)
		says(t, err, nil, odd, "want a number")
		if name == "0000000000000000000" {
			_, err = store.Insert(background(t), insert(1, "a"))
			says(t, err, nil, odd, "want a number")
		}
		if err := conn.Delete(odd, -1); err != nil {
			t.Fatal(err)
		}
	}
	_, look := store.Look(background(t), lease.Bounds{To: 9}, time.Minute)
	_, _, read := store.Read(background(t), 7, time.Minute)
	_, swap := store.Swap(background(t), "x", insert(7, "a"))
	for _, err := range []error{look, read, swap} {
		says(t, err, nil, foreign)
	}
}

// TestSessionExpiry: go-zookeeper replaces an expired session in silence, and the
// ephemeral nodes are gone. Whoever takes the number then starts where the holder's
// reservation ends; the holder takes another.
func TestSessionExpiry(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 2*time.Second)
	h := hold(t, prepared(t, conn, path), 9)
	before := h.Last()
	session := conn.SessionID()
	w.cut(true)
	other := prepared(t, connect(t, servers, 20*time.Second, nil), path)
	servertest.Eventually(t, "the session expires", func() bool {
		row, _, err := other.Read(background(t), 0, time.Minute)
		return err == nil && row != nil && row.State == lease.StateExpired
	})
	if g := h.Last(); !g.Held || g.Number != 0 || g.Until.Before(before.Until) {
		t.Errorf("granted %+v; want what was reserved to be kept", g)
	}
	successor := hold(t, other, 9, lease.Config{Assigner: uid.StaticWorker(0)}).Last()
	if successor.Number != 0 || successor.From.Before(before.Until) {
		t.Errorf("the successor was granted %+v, and the holder %+v", successor, before)
	}
	w.cut(false)
	servertest.Eventually(t, "the holder takes another number", func() bool { g := h.Last(); return g.Held && g.Number != 0 })
	if !h.Lost(lease.ErrLost) {
		t.Error("the loss was not told")
	}
	if ready(t, conn).SessionID() == session {
		t.Error("the session did not expire")
	}
}

// TestSessionExpiryWithoutSuccessor: the holder makes the ephemeral node again.
func TestSessionExpiryWithoutSuccessor(t *testing.T) {
	t.Parallel()
	servers, path := shared(t), newPath()
	conn, w := wired(t, servers, 400*time.Millisecond)
	h := hold(t, prepared(t, conn, path), 9)
	w.cut(true)
	other := prepared(t, connect(t, servers, 20*time.Second, nil), path)
	is := func(state lease.State) func() bool {
		return func() bool {
			row, _, err := other.Read(background(t), 0, time.Minute)
			return err == nil && row != nil && row.State == state
		}
	}
	servertest.Eventually(t, "the session expires", is(lease.StateExpired))
	w.cut(false)
	servertest.Eventually(t, "the holder is alive again", is(lease.StateHeld))
	if g := h.Last(); !g.Held || g.Number != 0 || h.Lost(lease.ErrLost) {
		t.Errorf("granted %+v; want number 0 as before", g)
	}
}
