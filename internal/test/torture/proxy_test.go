//go:build linux

package torture

import (
	"errors"
	"net"
	"sync"
)

// proxy stands between a child and a server. It can hold back bytes of either direction,
// as a network that drops packets does, and cut connections.
type proxy struct {
	listener net.Listener
	target   func() string // where the server is

	mu     sync.Mutex
	links  map[*link]bool
	closed bool
	gates  [2]chan struct{} // to and from the server; closed is open
	done   sync.WaitGroup
}

// The directions through a proxy.
const (
	toServer = iota
	fromServer
)

// link is a connection through a proxy.
type link struct {
	client, server net.Conn
	cut            chan struct{}
	once           sync.Once
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.cut)
		l.client.Close()
		l.server.Close()
	})
}

// newProxy listens on a free port of an address of this machine.
func newProxy(on string, target func() string) (*proxy, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(on, "0"))
	if err != nil {
		return nil, err
	}
	open := make(chan struct{})
	close(open)
	p := &proxy{listener: listener, target: target, links: map[*link]bool{}, gates: [2]chan struct{}{open, open}}
	p.done.Go(p.serve)
	return p, nil
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
		l := &link{client: client, server: server, cut: make(chan struct{})}
		p.mu.Lock()
		if p.closed {
			l.close()
		}
		p.links[l] = true
		p.done.Add(2)
		p.mu.Unlock()
		go p.pump(l, l.server, l.client, toServer)
		go p.pump(l, l.client, l.server, fromServer)
	}
}

// pump carries bytes in one direction. Bytes that were read when the gate shut go on when
// it opens, even if the sender has given up: a statement then arrives late.
func (p *proxy) pump(l *link, to, from net.Conn, way int) {
	defer p.done.Done()
	defer func() {
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
		l.close()
	}()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			select {
			case <-p.gate(way):
			case <-l.cut:
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
	return sync.OnceFunc(func() { close(gate) })
}

// cut ends all connections and returns how many there were.
func (p *proxy) cut() int {
	p.mu.Lock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.close()
	}
	return len(links)
}

// close ends the proxy.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.cut()
	p.done.Wait()
}
