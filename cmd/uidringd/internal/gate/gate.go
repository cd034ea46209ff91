// Package gate bounds the connections of a server: all of them, and those of one address.
//
// A connection is busy while it has a whole request of a caller who may send one. It is a stranger
// until its first such request. A full gate makes room by closing a connection that is not busy:
// the oldest stranger after [Grace], else the one that has been idle longest, else the oldest
// stranger. If all are busy, the gate accepts a few more connections. [Conn.Clients] reports them, so that a
// server answers probes on them, and refuses all other requests. If these are used up too, the
// gate closes the oldest of them.
package gate

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Extras is how many extra connections a gate accepts.
const Extras = 64

// Grace is the time in which a stranger can send its first request before it is closed instead
// of idle connections.
const Grace = time.Second

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
	limits Limits
	full   func(Counts) // told when the gate makes room, without the lock

	mu        sync.Mutex
	counts    Counts
	addresses map[any]*address
	free      free
	extra     list.List // of *Conn; the first is the oldest
}

type address struct {
	key     any
	open    int
	free    free
	clients Clients
}

// free are connections that are not busy.
type free struct {
	strangers list.List // of *Conn; the first is the oldest
	idle      list.List // of *Conn; the first has been idle longest
}

func (f *free) of(c *Conn) *list.List {
	if c.known {
		return &f.idle
	}
	return &f.strangers
}

// first returns the connection to close first, nil if all are busy.
func (f *free) first() *list.Element {
	stranger := f.strangers.Front()
	if idle := f.idle.Front(); stranger == nil || idle != nil && time.Since(stranger.Value.(*Conn).came) < Grace {
		return cmp.Or(idle, stranger)
	}
	return stranger
}

// Clients counts what the clients of an address have under way. The gate makes it, and
// servers count.
type Clients struct {
	Requests atomic.Int64
	Refused  atomic.Int64 // requests whose refusal is under way
	Probes   atomic.Int64
	IDs      atomic.Int64 // of answers that are in memory as a whole
}

// Conn is a connection that a gate has admitted. A nil Conn is one of no gate.
type Conn struct {
	net.Conn
	gate            *Gate
	from            *address
	came            time.Time
	all, one, extra *list.Element // in Gate.free, address.free and Gate.extra; nil if not there. extra does not change
	known, closed   bool          // guarded by Gate.mu, as the elements
}

// New returns a gate. It calls full after it has closed or refused a connection.
func New(limits Limits, full func(Counts)) *Gate {
	return &Gate{limits: limits, full: full, addresses: map[any]*address{}}
}

// Counts returns what is open now.
func (g *Gate) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count()
}

func (g *Gate) count() Counts {
	c := g.counts
	c.Idle, c.Extra = g.free.strangers.Len()+g.free.idle.Len(), g.extra.Len()
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
func (g *Gate) enter(accepted net.Conn) (admitted *Conn, closing net.Conn, _ Counts) {
	key := Address(accepted.RemoteAddr().String())
	g.mu.Lock()
	defer g.mu.Unlock()
	from := g.addresses[key]
	if from == nil {
		from = &address{key: key}
	}
	c := &Conn{Conn: accepted, gate: g, from: from, came: time.Now()}
	var oldest *list.Element
	switch {
	case from.open >= g.limits.One:
		if oldest = from.free.first(); oldest == nil {
			g.counts.Refused++
			return nil, accepted, g.count()
		}
	case g.counts.Open-g.extra.Len() >= g.limits.All:
		if oldest = g.free.first(); oldest == nil {
			if g.extra.Len() >= Extras {
				oldest = g.extra.Front()
			}
			c.extra = g.extra.PushBack(c)
		}
	}
	if oldest != nil {
		g.counts.Ended++
		last := oldest.Value.(*Conn)
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
func (c *Conn) rest() {
	c.all, c.one = c.gate.free.of(c).PushBack(c), c.from.free.of(c).PushBack(c)
}

// wake makes c busy. The lock is held.
func (c *Conn) wake() {
	if c.all != nil {
		c.gate.free.of(c).Remove(c.all)
		c.from.free.of(c).Remove(c.one)
		c.all, c.one = nil, nil
	}
}

// leave takes c out of the gate. The lock is held.
func (c *Conn) leave() {
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

// Close closes a connection, which counts no more.
func (c *Conn) Close() error {
	c.gate.mu.Lock()
	c.leave()
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// Busy makes a connection busy, until Idle: it has a whole request, and the caller may send one.
func (c *Conn) Busy() { c.change(true) }

// Idle makes a connection idle: it has written all answers.
func (c *Conn) Idle() { c.change(false) }

func (c *Conn) change(busy bool) {
	if c == nil {
		return
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	switch {
	case c.closed || c.extra != nil:
	case busy:
		c.wake()
		c.known = true
	case c.all == nil:
		c.rest()
	}
}

// Clients returns the clients of the connection's address, and whether the connection is an extra
// one. Without a gate, it returns counts that nobody shares.
func (c *Conn) Clients() (clients *Clients, extra bool) {
	if c == nil {
		return new(Clients), false
	}
	return &c.from.clients, c.extra != nil
}

// State is for [http.Server.ConnState]. It makes connections idle, and none busy.
func State(nc net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		Of(nc).Idle()
	}
}

type connKey struct{}

// Context is for [http.Server.ConnContext].
func Context(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, Of(nc))
}

// From returns the connection of a request, by the request's context.
func From(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Of returns the connection that a gate has admitted as nc, or that TLS uses below nc.
func Of(nc net.Conn) *Conn {
	if secure, ok := nc.(*tls.Conn); ok {
		nc = secure.NetConn()
	}
	c, _ := nc.(*Conn)
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
