//go:build linux

package fleet

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer leads each connection to a random server that is ready.
type balancer struct {
	listener net.Listener
	backends []*backend
	running  sync.WaitGroup
	conns    sync.Map // net.Conn, to be closed in the end
}

type backend struct {
	address string
	ready   atomic.Bool // written by probe, read by serve
}

// newBalancer returns a balancer of servers that are ready, once it knows that.
func newBalancer(t *testing.T, addresses []string) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: listener}
	ctx, cancel := context.WithCancel(context.Background())
	for _, address := range addresses {
		to := &backend{address: address}
		b.backends = append(b.backends, to)
		b.running.Go(func() { to.probe(ctx) })
	}
	b.running.Go(func() { b.serve() })
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		b.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
		b.running.Wait()
	})
	for _, to := range b.backends {
		for !to.ready.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	return b
}

func (b *balancer) url() string { return "http://" + b.listener.Addr().String() }

// probe asks whether the server is ready, again and again.
func (b *backend) probe(ctx context.Context) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		response, err := client.Get("http://" + b.address + "/readyz")
		b.ready.Store(err == nil && response.StatusCode == http.StatusOK)
		if err == nil {
			_ = response.Body.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

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
	for _, i := range rand.Perm(len(b.backends)) {
		if b.backends[i].ready.Load() {
			if conn, err := net.DialTimeout("tcp", b.backends[i].address, time.Second); err == nil {
				return conn
			}
		}
	}
	return nil
}
