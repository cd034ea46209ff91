// Package deadline makes the deadlines of connections cheap.
//
// net/http sets a deadline eight times for a request, and hardly any is ever reached. A
// connection of this package only notes a deadline. Each read and write checks the noted
// deadline at its start, and one goroutine looks from time to time at the reads and writes
// of all connections. So a deadline is reached late, by the time between two looks at most, and
// never early. A deadline that is over when it is set ends reads or writes at once.
package deadline

import (
	"errors"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type listener struct {
	net.Listener
	start  time.Time
	looked atomic.Int64 // the last look, in ns after start
	ended  chan struct{}

	mu    sync.Mutex
	conns map[*conn]struct{} // that are open
}

// New returns a listener of such connections, which looks at them every interval. Call
// stop at the end: until then deadlines hold, even after the listener is closed.
func New(l net.Listener, every time.Duration) (_ net.Listener, stop func()) {
	d := &listener{Listener: l, start: time.Now(), ended: make(chan struct{}), conns: map[*conn]struct{}{}}
	var looking sync.WaitGroup
	looking.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.look()
			case <-d.ended:
				return
			}
		}
	})
	return d, func() {
		close(d.ended)
		looking.Wait()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted}
	c.read.init(l, accepted.SetReadDeadline)
	c.write.init(l, accepted.SetWriteDeadline)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c, nil
}

func (l *listener) look() {
	l.looked.Store(time.Since(l.start).Nanoseconds())
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.read.look()
		c.write.look()
	}
}

type conn struct {
	net.Conn
	read, write deadline
}

func (c *conn) Close() error {
	l := c.read.listener
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) Read(b []byte) (int, error) {
	defer c.read.end()
	if !c.read.begin() {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(b)
}

func (c *conn) Write(b []byte) (int, error) {
	defer c.write.end()
	if !c.write.begin() {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Write(b)
}

func (c *conn) SetReadDeadline(t time.Time) error  { return c.read.set(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.set(t) }
func (c *conn) SetDeadline(t time.Time) error      { return errors.Join(c.read.set(t), c.write.set(t)) }

// deadline is that of reads or of writes.
type deadline struct {
	listener *listener
	at       atomic.Int64 // ns after the listener's start
	calls    atomic.Int64 // that have begun and not ended

	mu   sync.Mutex
	told atomic.Bool           // whether the connection has a deadline, which is over; written under mu
	pass func(time.Time) error // gives the connection a deadline; called under mu
}

// never is the at of no deadline.
const never = math.MaxInt64

func (d *deadline) init(l *listener, pass func(time.Time) error) {
	d.listener, d.pass = l, pass
	d.at.Store(never)
}

// over reports whether the deadline was over at the last look.
func (d *deadline) over() bool { return d.at.Load() <= d.listener.looked.Load() }

// begin returns false if a call may not begin. A set meanwhile either is seen here, or sees
// the call.
func (d *deadline) begin() bool {
	d.calls.Add(1)
	return !d.over()
}

func (d *deadline) end() { d.calls.Add(-1) }

func (d *deadline) set(t time.Time) error {
	at := int64(never)
	if !t.IsZero() {
		at = t.Sub(d.listener.start).Nanoseconds()
	}
	d.at.Store(at)
	if d.told.Load() || d.late() {
		return d.tell()
	}
	return nil
}

func (d *deadline) look() {
	if d.late() && !d.told.Load() {
		_ = d.tell() // fails for a closed connection, which needs no deadline
	}
}

// late reports whether calls last longer than they may.
func (d *deadline) late() bool { return d.over() && d.calls.Load() > 0 }

// tell gives the connection a deadline that is over, if d is, and none otherwise. told is
// true before tell looks at d: a set meanwhile either is seen here, or calls tell too.
func (d *deadline) tell() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told.Store(true)
	if d.over() {
		return d.pass(d.listener.start)
	}
	d.told.Store(false)
	return d.pass(time.Time{})
}
