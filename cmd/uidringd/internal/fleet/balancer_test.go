//go:build linux

package fleet

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// balancer leads each connection to a random server that is ready.
type balancer struct {
	listener net.Listener
	servers  []*server
	running  sync.WaitGroup
	conns    sync.Map // net.Conn, to be closed in the end
}

func newBalancer(t *testing.T, servers []*server) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: listener, servers: servers}
	b.running.Go(func() { b.serve() })
	t.Cleanup(func() {
		_ = listener.Close()
		b.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
		b.running.Wait()
	})
	return b
}

func (b *balancer) url() string { return "http://" + b.listener.Addr().String() }

func (b *balancer) serve() {
	for {
		conn, err := b.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			b.conns.Store(conn, nil)
			b.running.Go(func() { b.lead(conn) })
		}
	}
}

// lead copies both ways until either side ends.
func (b *balancer) lead(client net.Conn) {
	defer b.conns.Delete(client)
	defer client.Close()
	server := b.dial()
	if server == nil {
		return
	}
	b.conns.Store(server, nil)
	defer b.conns.Delete(server)
	defer server.Close()
	b.running.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
}

// dial connects to a server that is ready, if there is one.
func (b *balancer) dial() net.Conn {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, i := range rand.Perm(len(b.servers)) {
		s := b.servers[i]
		response, err := client.Get(s.url() + "/readyz")
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			continue
		}
		if conn, err := net.DialTimeout("tcp", s.address, time.Second); err == nil {
			return conn
		}
	}
	return nil
}
