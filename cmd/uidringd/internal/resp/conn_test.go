package resp

import (
	"io"
	"net"
	"testing"
	"time"
)

// A connection keeps little memory after a long command and a long answer.
func TestLongCommandLeavesNoMemory(t *testing.T) {
	client, accepted := net.Pipe()
	defer accepted.Close()
	go func() { _, _ = io.WriteString(client, "PING\r\n") }()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	c := newConn(New(Config{Idle: time.Hour}), accepted)
	c.in, c.text = make([]byte, 1<<20), make([]byte, 1<<20)
	if c.flush(); !c.fill() || len(c.in) != readBytes || cap(c.text) > 2*flushBytes {
		t.Errorf("a connection keeps %d bytes for commands and %d for answers, want %d, and %d at most", len(c.in), cap(c.text), readBytes, 2*flushBytes)
	}
}
