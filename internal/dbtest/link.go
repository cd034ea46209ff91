package dbtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A Link is the network between a test and a server. It can be cut.
type Link struct {
	server, here string // addresses

	mu       sync.Mutex
	cut      bool
	listener net.Listener
	conns    map[net.Conn]bool
	running  sync.WaitGroup
}

// Linked returns the URL of s by way of a Link. SQLite has no network.
func (s *Store) Linked(t *testing.T) (string, *Link) {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{server: u.Host, here: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	if u.Port() == "" {
		l.server = net.JoinHostPort(u.Hostname(), map[string]string{"mysql": "3306", "postgres": "5432"}[s.Kind])
	}
	l.cut = true
	if err := l.Mend(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Cut()
		l.running.Wait()
	})
	u.Host = l.here
	return u.String(), l
}

// Cut ends all connections, and refuses new ones.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return
	}
	l.cut = true
	_ = l.listener.Close()
	for conn := range l.conns {
		_ = conn.Close()
	}
}

// Mend takes connections again, at the address that it had before.
func (l *Link) Mend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		return nil
	}
	listener, err := net.Listen("tcp", l.here)
	if err != nil {
		return err
	}
	l.cut, l.listener, l.here = false, listener, listener.Addr().String()
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener is closed
			}
			l.running.Go(func() { l.join(conn) })
		}
	})
	return nil
}

// join carries bytes between one client and the server.
func (l *Link) join(client net.Conn) {
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		_ = client.Close()
		return
	}
	ends := []net.Conn{client, server}
	l.mu.Lock()
	for _, end := range ends {
		l.conns[end] = true
		if l.cut {
			_ = end.Close()
		}
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	for i, end := range ends {
		both.Go(func() {
			_, _ = io.Copy(end, ends[1-i])
			_ = end.Close() // which ends the other direction too
			_ = ends[1-i].Close()
		})
	}
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		delete(l.conns, end)
	}
}
