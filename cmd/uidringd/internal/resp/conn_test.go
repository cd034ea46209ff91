package resp

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// calm is a host that refuses nothing.
type calm struct{}

func (calm) Begin(net.Conn) error     { return nil }
func (calm) End(net.Conn, error)      {}
func (calm) Observe(*service.Request) {}
func (calm) Draining() bool           { return false }
func (calm) Ready() error             { return nil }

// A connection keeps little memory after a long command and its answer.
func TestLongCommandLeavesNoMemory(t *testing.T) {
	client, accepted := net.Pipe()
	c := newConn(New(Config{Host: calm{}, MaxBytes: 1 << 20, Read: time.Hour, Write: time.Hour, Idle: time.Hour}), accepted)
	go func() { _, _ = io.Copy(io.Discard, client) }()
	go func() {
		defer client.Close()
		for _, command := range []string{"PING " + strings.Repeat("x", 1<<19) + "\r\n", "PING\r\n"} {
			_, _ = io.WriteString(client, command)
		}
	}()
	for c.fill() && c.answer() {
	}
	if len(c.in) > readBytes || cap(c.text) > 2*flushBytes {
		t.Errorf("a connection keeps %d bytes of commands and %d of answers, want %d and %d at most", len(c.in), cap(c.text), readBytes, 2*flushBytes)
	}
}
