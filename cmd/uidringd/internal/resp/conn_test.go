package resp

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"
	"weak"
)

// A connection keeps little memory after a long command and a long answer, and none when it ends.
func TestConnectionsLeaveNoMemory(t *testing.T) {
	client, accepted := net.Pipe()
	go func() { _, _ = io.WriteString(client, "PING\r\n") }()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	s := New(Config{Idle: time.Hour})
	c := newConn(s, accepted)
	c.in, c.text = make([]byte, 1<<20), make([]byte, 1<<20)
	if c.flush(); c.written() != 1<<20 {
		t.Errorf("%d bytes of an answer count once they are sent, want all", c.written())
	}
	if !c.fill() || len(c.in) != readBytes || cap(c.text) > 2*flushBytes {
		t.Errorf("a connection keeps %d bytes for commands and %d for answers, want %d, and %d at most", len(c.in), cap(c.text), readBytes, 2*flushBytes)
	}
	_ = client.Close()
	s.enter(c)
	s.serving.Wait()
	kept := weak.Make(c)
	if runtime.GC(); kept.Value() != nil {
		t.Error("the server keeps a connection that has ended")
	}
	runtime.KeepAlive(s)
}
