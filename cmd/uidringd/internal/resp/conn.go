package resp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

const (
	readBytes  = 4 << 10  // that a connection reads at once, unless a command is longer
	flushBytes = 16 << 10 // of answers, from which on they are written
)

// conn is for the goroutine that serves the connection.
type conn struct {
	*Server
	net net.Conn
	id  int64
	tls *tls.ConnectionState // nil without TLS

	in       []byte // [from:to] is not parsed yet
	from, to int
	args     [][]byte
	until    time.Time // when the rest of a command has to be there; zero between commands
	reply              // not written yet
	flushed  int       // bytes
	broken   error     // of a write
	quit     bool      // the connection ends after the answers
	refused  error     // why the commands that have arrived are refused
	busy     bool      // one of these is of a caller who may send it
	multi    bool      // a transaction has begun, in which all commands but a few fail

	about service.Request // the last command; Began is when it and those that came with it arrived

	caller service.Caller
	known  bool // IDs has admitted caller
}

func newConn(s *Server, accepted net.Conn) *conn {
	c := &conn{Server: s, net: accepted, id: s.last.Add(1), in: make([]byte, readBytes)}
	c.about.Remote, c.about.Ended = accepted.RemoteAddr().String(), time.Now()
	c.version = 2
	return c
}

// serve answers commands until the connection ends.
func (c *conn) serve() {
	if secure, ok := c.net.(*tls.Conn); ok {
		_ = c.net.SetDeadline(c.about.Ended.Add(c.Read)) // an error shows in the handshake
		if err := secure.HandshakeContext(c.ctx); err != nil {
			if !errors.Is(err, io.EOF) { // else nobody waits for an answer
				c.seldom.Do(func() { c.Logger.Warn("redis: a handshake failed", "remote", c.about.Remote, "error", err) })
			}
			return
		}
		state := secure.ConnectionState()
		c.tls = &state
	}
	for c.fill() && c.answer() {
	}
}

// fill waits for bytes. It returns false at the end of the connection.
func (c *conn) fill() bool {
	deadline := c.about.Ended.Add(c.Idle)
	if c.from < c.to {
		c.to, c.from = copy(c.in, c.in[c.from:c.to]), 0
		if c.until.IsZero() {
			c.until = time.Now().Add(c.Read)
		}
		deadline = c.until
		if c.to == len(c.in) { // less than MaxBytes, else parse refuses the command
			c.in = append(c.in, make([]byte, min(len(c.in), c.MaxBytes-len(c.in)))...)
		}
	} else {
		c.from, c.to, c.until = 0, 0, time.Time{}
		if len(c.in) > readBytes {
			c.in = make([]byte, readBytes)
		}
	}
	for {
		_ = c.net.SetReadDeadline(deadline) // an error shows in Read
		if c.to == 0 && c.stopping.Err() != nil {
			return false
		}
		n, err := c.net.Read(c.in[c.to:])
		c.to += n
		switch {
		case n > 0:
			return true
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && c.stopping.Err() != nil && time.Now().Before(deadline): // Shutdown ended the wait
		default:
			return false
		}
	}
}

// answer answers the commands that have arrived. It returns false if the connection ends.
func (c *conn) answer() bool {
	length, fault := c.parse()
	if length == 0 && fault == nil {
		return true // the rest has not arrived
	}
	err := c.begin()
	defer c.Host.End(c.net, err)
	if err != nil && c.refused == nil {
		return false
	}
	for length > 0 && c.broken == nil && !c.quit {
		c.run(length)
		length, fault = c.parse()
	}
	if fault != nil && c.broken == nil && !c.quit {
		c.malformed(fault)
	}
	c.flush()
	if c.busy {
		c.busy = false
		gate.Of(c.net).Idle()
	}
	return c.broken == nil && !c.quit && c.refused == nil
}

func (c *conn) parse() (length int, fault error) {
	c.args, length, fault = parse(c.in[c.from:c.to], c.args[:0], c.MaxBytes)
	return length, fault
}

// begin prepares for commands that have arrived. Its error is that of the host. If that refuses the
// commands, c.refused has it too.
func (c *conn) begin() error {
	c.about.Began, c.refused = time.Now(), nil
	_ = c.net.SetWriteDeadline(c.about.Began.Add(c.Write)) // an error shows in a write
	err := c.Host.Begin(c.net)
	if refused, ok := errors.AsType[*service.Error](err); ok {
		c.refused = refused
	}
	return err
}

// run answers the command in args, which has length bytes, and the equal INCRs behind it.
func (c *conn) run(length int) {
	c.until = time.Time{}
	switch {
	case isINCR(c.args) && !c.multi:
		n := repeats(c.in[c.from:c.to], length)
		length *= n
		c.increment(string(c.args[1]), n)
	case len(c.args) > 0:
		c.do(c.args)
	}
	c.from += length
	if len(c.text) >= flushBytes {
		c.flush()
	}
}

func (c *conn) flush() {
	if len(c.text) > 0 && c.broken == nil {
		_, c.broken = c.net.Write(c.text)
	}
	c.flushed += len(c.text)
	if cap(c.text) > 2*flushBytes {
		c.text = nil
	}
	c.text = c.text[:0]
}

func (c *conn) written() int { return c.flushed + len(c.text) }

// lingerTime is how long a client has to read why the connection ends. If bytes of the client
// are not read when the connection ends, the system discards the answer.
const lingerTime = 500 * time.Millisecond

// malformed answers input that is not a command. The connection ends after the answer.
func (c *conn) malformed(fault error) {
	c.quit = true
	before := c.written()
	if errors.Is(fault, errHTTP) {
		text := "This port speaks the Redis protocol. HTTP, gRPC and Connect are at " + c.HTTP + "\n"
		c.text = fmt.Appendf(c.text, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
	} else {
		c.fail("ERR " + fault.Error())
	}
	c.observe("redis (malformed)", 1, before, service.Invalid("%v", fault))
	c.flush()
	_ = c.net.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c.net, 1<<20)
}

// observe reports commands whose answers start at before.
func (c *conn) observe(route string, count, before int, failed *service.Error) {
	r := &c.about
	r.Route, r.Protocol, r.Caller, r.Count = route, protocols[c.version], c.caller, count
	r.Bytes, r.Failed, r.Ended = int64(c.written()-before), failed, time.Now()
	c.Host.Observe(r)
}

var protocols = map[int]string{2: "RESP2", 3: "RESP3"}
