//go:build linux

package segmentredis_test

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func TestMain(m *testing.M) {
	segmenttest.Child(func(address string) (segment.Store, error) {
		address, prefix, _ := strings.Cut(address, " ")
		return segmentredis.New(redis.NewClient(&redis.Options{Addr: address}), segmentredis.WithPrefix(prefix)), nil
	})
	goleak.VerifyTestMain(m)
}

// server is a Redis of the test's own that keeps its data in a directory.
type server struct {
	dir  string
	args []string
	cmd  *exec.Cmd
	at   atomic.Pointer[string] // its address; each start has another
}

// durable are the settings by which nothing that was acknowledged is lost.
var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

func start(t testing.TB, args ...string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), args: args}
	s.restart(t)
	t.Cleanup(s.kill)
	return s
}

// restart starts the server, also again after kill.
func (s *server) restart(t testing.TB) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	_, port, _ := net.SplitHostPort(address)
	s.cmd = exec.Command(program, append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--save", ""}, s.args...)...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	s.cmd.Stdout = &said
	must(t, s.cmd.Start())
	probe := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1})
	defer probe.Close()
	for deadline := time.Now().Add(time.Minute); probe.Ping(t.Context()).Err() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.kill()
			t.Fatalf("redis-server does not answer; it said: %s", &said)
		}
	}
	s.at.Store(&address)
}

// kill ends the server at once, as kill -9 does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // unless it has ended
	_ = s.cmd.Wait()
}

// client returns a client that finds the server wherever it is.
func (s *server) client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	options := &redis.Options{
		Addr: "127.0.0.1:1", // not dialed; a name would be looked up
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", *s.at.Load())
		},
		MinRetryBackoff: time.Millisecond, MaxRetryBackoff: 2 * time.Millisecond, DialerRetries: 1,
	}
	for _, f := range change {
		f(options)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// do sends commands of an operator. Words are separated by blanks.
func do(t testing.TB, client *redis.Client, commands ...string) {
	t.Helper()
	for _, command := range commands {
		var args []any
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		if err := client.Do(t.Context(), args...).Err(); err != nil && !redis.HasErrorPrefix(err, "OOM") {
			t.Fatalf("%s: %v", command, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
