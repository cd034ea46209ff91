//go:build linux

package segmentredis_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// wire is the network between a client and a server. The zero wire is whole.
type wire struct {
	mu    sync.Mutex
	lose  func(c *conn, request []byte) // takes each script; nil is whole
	cut   bool
	hangs bool
	conns []*conn
}

type conn struct {
	net.Conn
	wire *wire
	lost bool // the server's end is gone; written and read by the client's goroutine
}

// wired returns a client of the server whose network the test breaks.
func (s server) wired(t testing.TB) (*redis.Client, *wire) {
	w := new(wire)
	return s.client(t, func(o *redis.Options) {
		dial := o.Dialer
		o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.cut {
				return nil, errors.New("no route to the server")
			}
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			w.conns = append(w.conns, &conn{Conn: c, wire: w})
			return w.conns[len(w.conns)-1], nil
		}
	}), w
}

// set changes what goes wrong.
func (w *wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	if w.cut {
		for _, c := range w.conns {
			_ = c.Conn.Close()
		}
	}
}

func (c *conn) Write(b []byte) (int, error) {
	c.wire.mu.Lock()
	lose, hangs := c.wire.lose, c.wire.hangs
	c.wire.mu.Unlock()
	switch {
	case hangs:
		return len(b), nil
	case lose == nil || !bytes.Contains(b, []byte("eval")):
		return c.Conn.Write(b)
	}
	lose(c, b)
	c.lost = true
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	if c.lost {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

func (w *wire) faults() segmenttest.Faults {
	return segmenttest.Faults{
		LoseAnswer: func(then func()) {
			w.set(func() {
				w.lose = func(c *conn, request []byte) {
					w.set(func() { w.lose = nil }) // so that a second attempt would succeed
					_, _ = c.Conn.Write(request)
					_, _ = c.Conn.Read(make([]byte, 1<<10)) // the script has run
					then()
				}
			})
		},
		LoseWrite: func() { w.set(func() { w.lose = func(*conn, []byte) {} }) },
		Cut:       func() { w.set(func() { w.cut = true }) },
		Hang:      func() { w.set(func() { w.hangs = true }) },
		Heal:      func() { w.set(func() { w.lose, w.cut, w.hangs, w.conns = nil, false, false, nil }) },
	}
}
