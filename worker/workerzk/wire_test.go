//go:build linux

package workerzk_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// wire is a dialer whose connections a test can cut, stall and have lose answers.
type wire struct {
	mu    sync.Mutex
	conns []net.Conn
	down  bool // nobody can connect

	sent    atomic.Int64 // requests
	deaf    atomic.Bool  // nothing is received, although all is sent
	between atomic.Pointer[between]
	left    atomic.Int64 // requests until one is refused; 0 is never
}

// between is what happens before a request that has the text is sent.
type between struct {
	text string
	do   func()
}

// wired opens a connection that a test breaks.
func wired(t *testing.T, servers []string, session time.Duration) (*zk.Conn, *wire) {
	t.Helper()
	w := new(wire)
	return connect(t, servers, session, w.dial), w
}

func (w *wire) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("cut")}
	}
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	w.conns = append(w.conns, conn)
	return &deafConn{conn, w}, nil
}

// cut ends all connections. No other is made while down.
func (w *wire) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
	w.deaf.Store(false)
}

type deafConn struct {
	net.Conn
	wire *wire
}

func (c *deafConn) Write(p []byte) (int, error) {
	if b := c.wire.between.Load(); b != nil && strings.Contains(string(p), b.text) && c.wire.between.CompareAndSwap(b, nil) {
		b.do()
	}
	request := len(p) > 12 && int32(binary.BigEndian.Uint32(p[4:])) > 0 // the rest has no number
	if request {
		c.wire.sent.Add(1)
	}
	if !request || c.wire.left.Load() <= 0 || c.wire.left.Add(-1) > 0 {
		return c.Conn.Write(p)
	}
	const get = 4
	other := binary.BigEndian.AppendUint32(bytes.Clone(p[:8]), get)
	other = append(binary.BigEndian.AppendUint32(other, uint32(len(secret))), secret+"\x00"...)
	binary.BigEndian.PutUint32(other, uint32(len(other)-4))
	_, err := c.Conn.Write(other)
	return len(p), err
}

// secret is a node that nobody may read.
const secret = "/uidring-secret"

// hides makes the node, on which w.left relies.
func hides(t *testing.T, conn *zk.Conn) {
	t.Helper()
	if _, err := conn.Create(secret, nil, 0, zk.WorldACL(zk.PermAdmin)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		t.Fatal(err)
	}
}

// refuse calls a method again and again, and has ZooKeeper refuse the first of its requests,
// then the second and so on. Each time the method has to fail.
func (w *wire) refuse(t *testing.T, name string, method func() error) {
	t.Helper()
	for n := int64(1); ; n++ {
		w.left.Store(n)
		err := method()
		refused := w.left.Swap(0) == 0
		switch {
		case refused && !errors.Is(err, zk.ErrNoAuth):
			t.Errorf("%s: %v; want that request %d is refused", name, err, n)
		case !refused && (err != nil || n == 1):
			t.Errorf("%s: %v after %d requests", name, err, n-1)
		}
		if !refused {
			return
		}
	}
}

func (c *deafConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for c.wire.deaf.Load() && err == nil {
		n, err = c.Conn.Read(p) // dropped
	}
	return n, err
}
