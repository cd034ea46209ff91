package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
)

// listen listens at an address of the config. It removes the file of a socket that a server
// left when it crashed.
func listen(ctx context.Context, address string, mode config.Mode) (net.Listener, error) {
	network, address := config.Network(address)
	if network != "unix" {
		return new(net.ListenConfig).Listen(ctx, network, address)
	}
	if err := removeStale(ctx, address); err != nil {
		return nil, fmt.Errorf("listen unix %s: %w", address, err)
	}
	defer umask(0o777)()
	l, err := new(net.ListenConfig).Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, fs.FileMode(mode)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the file of a socket at which nobody listens.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("the file is no socket: want another path, or remove the file")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return errors.New("a process listens at the socket: want another path, or stop that process")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("whether a process listens at the socket: %w", err)
}

// addressOf writes a listener's address as the config does.
func addressOf(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + l.Addr().String()
	}
	return l.Addr().String()
}

// hinted returns a listener before that of HTTP, which answers clients of Redis that come to
// the wrong port. With TLS, they get net/http's answer. redis is nil if it is not served.
func hinted(web, redis net.Listener, files *certificates) net.Listener {
	if secure(web, files) {
		return web
	}
	where := "is not served: the config has no redis.listen"
	if redis != nil {
		where = "is served at " + addressOf(redis)
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
