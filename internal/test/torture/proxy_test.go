//go:build linux

package torture

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
)

// proxy stands between a child and a server. It can hold back bytes of either direction,
// as a network that drops packets does, and cut connections.
type proxy struct {
	listener net.Listener
	target   func() string // where the server is
	done     sync.WaitGroup

	mu    sync.Mutex
	links context.Context  // of all connections
	end   func()           // cuts them
	count int              // of connections
	gates [2]chan struct{} // to and from the server; closed is open
}

// The directions through a proxy.
const (
	toServer = iota
	fromServer
)

// newProxy listens on a free port of loopback, until the test ends.
func newProxy(t *testing.T, target func() string) *proxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	open := make(chan struct{})
	close(open)
	p := &proxy{listener: listener, target: target, gates: [2]chan struct{}{open, open}}
	p.links, p.end = context.WithCancel(context.Background())
	p.done.Go(p.serve)
	t.Cleanup(func() {
		p.listener.Close()
		p.mu.Lock()
		p.end()
		p.mu.Unlock()
		p.done.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		server, err := net.Dial("tcp", p.target())
		if err != nil {
			client.Close()
			continue
		}
		p.done.Go(func() { p.link(client, server) })
	}
}

// link carries bytes between two connections until one ends, or they are cut.
func (p *proxy) link(client, server net.Conn) {
	p.mu.Lock()
	p.count++
	ctx, end := context.WithCancel(p.links)
	p.mu.Unlock()
	context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	var both sync.WaitGroup
	both.Go(func() { p.pump(ctx, end, server, client, toServer) })
	both.Go(func() { p.pump(ctx, end, client, server, fromServer) })
	both.Wait()
	p.mu.Lock()
	p.count--
	p.mu.Unlock()
}

// pump carries bytes in one direction. Bytes that were read when the gate shut go on when
// it opens, even if the sender has given up: a statement then arrives late.
func (p *proxy) pump(ctx context.Context, end func(), to, from net.Conn, way int) {
	defer end()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			select {
			case <-p.gate(way):
			case <-ctx.Done():
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) gate(way int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gates[way]
}

// hold holds back bytes of the given directions until the caller calls the function that
// hold returns.
func (p *proxy) hold(ways ...int) (resume func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gate := make(chan struct{})
	for _, way := range ways {
		p.gates[way] = gate
	}
	return func() { close(gate) }
}

// cut ends all connections and returns how many there were.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.links, p.end = context.WithCancel(context.Background())
	return p.count
}
