package serve

import (
	"io"
	"net"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
)

// hinted returns a listener before that of HTTP, which answers clients of Redis that come to
// the wrong port. With TLS, they get net/http's answer. redis is nil if it is not served.
func hinted(web, redis net.Listener, files *certificates) net.Listener {
	if secure(web, files) {
		return web
	}
	where := "is not served: the config has no redis.listen"
	if redis != nil {
		where = "is served at " + place(redis)
	}
	return hints{web, "ERR this address is for HTTP, gRPC and Connect; the Redis protocol " + where}
}

type hints struct {
	net.Listener
	text string
}

func (h hints) Accept() (net.Conn, error) {
	accepted, err := h.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &hintedConn{Conn: accepted, text: h.text}, nil
}

type hintedConn struct {
	net.Conn
	text string // empty after the first bytes. One goroutine reads at a time
	over bool   // net/http reads once more after the end: it looks for HTTP/2 first
}

// Read ends the connection of a client whose first byte is *: each command of Redis begins so,
// and no request of HTTP does.
func (c *hintedConn) Read(b []byte) (int, error) {
	if c.over {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(b)
	if n == 0 || c.text == "" {
		return n, err
	}
	text := c.text
	if c.text = ""; b[0] != '*' {
		return n, err
	}
	c.over = true
	resp.Refuse(c.Conn, b[:n], text)
	return 0, io.EOF
}
