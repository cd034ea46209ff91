// Package gate bounds the connections of a server: all of them, and those of one address.
//
// A full gate makes room by closing the connection that has been idle longest. If none is
// idle, it accepts a few more connections. [Of] reports them, so that a server answers
// probes on them, and refuses all other requests. If these are used up too, it closes the
// oldest of them.
package gate

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Extras is how many places a gate has for extra connections.
const Extras = 64

// Limits are those of a gate.
type Limits struct {
	All int // connections at once
	One int // connections of one address at once; in IPv6, of a network of 64 bits
}

// Counts are those of a gate.
type Counts struct {
	Open, Idle, Extra int
	Ended             int64 // idle or extra connections that were closed for another
	Refused           int64 // connections of an address that has too many, none idle
}

// Gate bounds the connections of listeners together. All methods may be called from any
// number of goroutines.
type Gate struct {
	full func(Counts) // told when the gate makes room, without the lock

	mu        sync.Mutex
	limits    Limits
	counts    Counts
	addresses map[any]*address
	idle      list.List // of *conn; the first has been idle longest
	extra     list.List // of *conn; the first is the oldest
}

type address struct {
	key     any
	open    int
	idle    list.List
	clients Clients
}

// Clients counts what the clients of an address have under way. The gate makes it, and
// servers count.
type Clients struct {
	Requests atomic.Int64
	IDs      atomic.Int64 // of answers that are in memory as a whole
}

type conn struct {
	net.Conn
	gate             *Gate
	from             *address
	idle, one, extra *list.Element // in Gate.idle, address.idle and Gate.extra; nil if not there. extra does not change
	closed           bool          // guarded by Gate.mu, as the elements
}

// New returns a gate without places. It calls full after it has closed or refused a connection.
func New(full func(Counts)) *Gate { return &Gate{full: full, addresses: map[any]*address{}} }

// Limit sets the limits. Connections that are open stay, also above them.
func (g *Gate) Limit(limits Limits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limits = limits
}

// Counts returns what is open now.
func (g *Gate) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count()
}

func (g *Gate) count() Counts {
	c := g.counts
	c.Idle, c.Extra = g.idle.Len(), g.extra.Len()
	return c
}

// Before returns a listener that admits the connections of l.
func (g *Gate) Before(l net.Listener) net.Listener { return door{l, g} }

type door struct {
	net.Listener
	gate *Gate
}

func (d door) Accept() (net.Conn, error) {
	for {
		accepted, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, closing, counts := d.gate.enter(accepted)
		if closing != nil {
			_ = closing.Close() // its client is gone, or has nothing under way
			d.gate.full(counts)
		}
		if c != nil {
			return c, nil
		}
	}
}

// enter admits a connection, and returns one to close for it. Both may be the same.
func (g *Gate) enter(accepted net.Conn) (admitted *conn, closing net.Conn, _ Counts) {
	key := Address(accepted.RemoteAddr().String())
	g.mu.Lock()
	defer g.mu.Unlock()
	from := g.addresses[key]
	if from == nil {
		from = &address{key: key}
	}
	c := &conn{Conn: accepted, gate: g, from: from}
	var oldest *list.Element
	switch {
	case from.open >= g.limits.One:
		if oldest = from.idle.Front(); oldest == nil {
			g.counts.Refused++
			return nil, accepted, g.count()
		}
	case g.counts.Open-g.extra.Len() >= g.limits.All:
		if oldest = g.idle.Front(); oldest == nil {
			if g.extra.Len() >= Extras {
				oldest = g.extra.Front()
			}
			c.extra = g.extra.PushBack(c)
		}
	}
	if oldest != nil {
		g.counts.Ended++
		last := oldest.Value.(*conn)
		last.leave()
		closing = last.Conn
	}
	g.addresses[key] = from // the last of its connections may have left just now
	from.open++
	g.counts.Open++
	if c.extra == nil {
		c.rest()
	}
	return c, closing, g.count()
}

// rest makes c idle. The lock is held.
func (c *conn) rest() {
	c.idle, c.one = c.gate.idle.PushBack(c), c.from.idle.PushBack(c)
}

// wake makes c busy. The lock is held.
func (c *conn) wake() {
	if c.idle != nil {
		c.gate.idle.Remove(c.idle)
		c.from.idle.Remove(c.one)
		c.idle, c.one = nil, nil
	}
}

// leave takes c out of the gate. The lock is held.
func (c *conn) leave() {
	if c.closed {
		return
	}
	c.closed = true
	c.wake()
	if c.extra != nil {
		c.gate.extra.Remove(c.extra)
	}
	c.gate.counts.Open--
	if c.from.open--; c.from.open == 0 && c.gate.addresses[c.from.key] == c.from {
		delete(c.gate.addresses, c.from.key)
	}
}

func (c *conn) Close() error {
	c.gate.mu.Lock()
	c.leave()
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// State is for [http.Server.ConnState].
func (g *Gate) State(nc net.Conn, state http.ConnState) {
	c := of(nc)
	if c == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case c.closed || c.extra != nil:
	case state == http.StateActive:
		c.wake()
	case state == http.StateIdle && c.idle == nil:
		c.rest()
	}
}

type connKey struct{}

// Context is for [http.Server.ConnContext].
func (*Gate) Context(ctx context.Context, nc net.Conn) context.Context {
	if c := of(nc); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Of returns the clients of a request's address, by the request's context, and whether its
// connection is an extra one. Without a gate, it returns counts that nobody shares.
func Of(ctx context.Context) (clients *Clients, extra bool) {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c.clients()
}

// OfConn is [Of] by a connection.
func OfConn(nc net.Conn) (clients *Clients, extra bool) { return of(nc).clients() }

func (c *conn) clients() (*Clients, bool) {
	if c == nil {
		return new(Clients), false
	}
	return &c.from.clients, c.extra != nil
}

func of(nc net.Conn) *conn {
	if secure, ok := nc.(*tls.Conn); ok {
		nc = secure.NetConn()
	}
	c, _ := nc.(*conn)
	return c
}

// Address returns what a remote address is counted under: the IP address, or its network of
// 64 bits in IPv6.
func Address(remote string) any {
	port, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote // not TCP
	}
	addr := port.Addr().Unmap()
	if addr.Is6() {
		net, _ := addr.WithZone("").Prefix(64) // 64 bits fit
		return net
	}
	return addr
}
