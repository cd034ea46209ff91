//go:build linux

package servertest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

// Durable are the settings by which Redis loses nothing that it acknowledged.
var Durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

// RedisProgram is a Redis with its data in dir. The first argument may be a file of settings. It
// skips the test where there is no Redis.
func RedisProgram(t testing.TB, dir string, args ...string) Program {
	t.Helper()
	program := Find(t, "redis-server")
	return Program{func(port string) *exec.Cmd {
		return exec.Command(program, append(slices.Clone(args), "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "")...)
	}, nil, syscall.SIGKILL, ping}
}

// Redis is a server that runs.
type Redis struct {
	*Member
	Dir string                // of its data
	at  atomic.Pointer[Redis] // the server that Address and Dial lead to
}

// StartRedis starts a server on a new directory. It skips the test where there is no
// Redis.
func StartRedis(t testing.TB, args ...string) *Redis {
	t.Helper()
	dir := t.TempDir()
	s := &Redis{Member: RedisProgram(t, dir, args...).At(Addresses(t, 1)[0]), Dir: dir}
	s.Restart(t)
	s.Moves(s)
	return s
}

// ping returns nil if a server has loaded its data, even if it demands a password.
func ping(address string) error {
	answer, err := ask(address, "PING")
	if err == nil && !strings.HasPrefix(answer, "+PONG") && !strings.HasPrefix(answer, "-NOAUTH") {
		err = fmt.Errorf("it answers %q", answer)
	}
	return err
}

// ask sends a command to a server, and returns the beginning of the answer.
func ask(address, command string) (answer string, err error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, command+"\r\n")
	text := make([]byte, 4096)
	n, err := conn.Read(text)
	return string(text[:n]), err
}

// Command sends a command that must succeed, and returns the beginning of its answer.
func (s *Redis) Command(t testing.TB, command string) string {
	t.Helper()
	answer, err := ask(s.Address(), command)
	need.Must(t, err)
	if strings.HasPrefix(answer, "-") {
		t.Fatalf("%s: %s", command, answer)
	}
	return answer
}

// Address returns the address of the server, or of the one that it moves to.
func (s *Redis) Address() string { return s.at.Load().Member.Address }

// Moves makes Address and Dial lead to another server.
func (s *Redis) Moves(to *Redis) { s.at.Store(to) }

// Dial connects to Address, whatever address it is called with.
func (s *Redis) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", s.Address())
}
