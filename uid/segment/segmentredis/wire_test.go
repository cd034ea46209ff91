//go:build linux

package segmentredis_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// wire is the network between a client and a server, which also loses scripts or their answers.
type wire struct {
	*servertest.Link
	lose atomic.Pointer[func(c *conn, request []byte)] // takes each script; nil is whole
}

type conn struct {
	net.Conn
	wire *wire
	lost bool // the server's end is gone; written and read by the client's goroutine
}

// wired returns a client of the server whose network the test breaks.
func (s server) wired(t testing.TB) (*redis.Client, *wire) {
	w := &wire{Link: servertest.NewLink(t, s.Address)}
	return s.client(t, func(o *redis.Options) {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, w.Address())
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c, wire: w}, nil
		}
	}), w
}

func (c *conn) Write(b []byte) (int, error) {
	lose := c.wire.lose.Load()
	if lose == nil || !bytes.Contains(b, []byte("eval")) {
		return c.Conn.Write(b)
	}
	(*lose)(c, b)
	c.lost = true
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	if c.lost {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

func (w *wire) faults(t *testing.T) segmenttest.Faults {
	lose := func(f func(c *conn, request []byte)) { w.lose.Store(&f) }
	return segmenttest.Faults{
		LoseAnswer: func(then func()) {
			lose(func(c *conn, request []byte) {
				w.lose.Store(nil) // so that a second attempt would succeed
				_, _ = c.Conn.Write(request)
				_, _ = c.Conn.Read(make([]byte, 1<<10)) // the script has run
				then()
			})
		},
		LoseWrite: func() { lose(func(*conn, []byte) {}) },
		Cut:       w.Cut,
		Hang:      w.Hang,
		Heal:      func() { w.lose.Store(nil); must(t, w.Mend()) },
	}
}
