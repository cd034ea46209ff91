//go:build linux

package servertest

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Find looks for a program on PATH and in the usual places, of several versions for the
// last. It skips the test where there is none.
func Find(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			real, err := filepath.EvalSymlinks(path)
			if err == nil && filepath.Base(real) == name {
				return real // which finds files beside itself
			}
			return path // a program that goes by its name, such as redis-server
		}
		for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"} {
			paths, _ := filepath.Glob(filepath.Join(pattern, name))
			if len(paths) > 0 {
				return paths[len(paths)-1]
			}
		}
	}
	t.Skipf("there is no %s here", names[0])
	return ""
}

// Addresses returns addresses on loopback that nobody listens on.
func Addresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() // together, so that they differ
		addresses[i] = listener.Addr().String()
	}
	return addresses
}

// port is an address's.
func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// Eventually waits until something is so. How long that takes is the machine's affair.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// Process is a server.
type Process struct {
	cmd  *exec.Cmd
	kill syscall.Signal
	gone chan struct{} // closed when it has ended
	mu   sync.Mutex
	said bytes.Buffer
}

// Start starts a server, which is killed at the end of the test at the latest, and
// waits until ready returns nil.
func Start(t testing.TB, ready func() error, program string, args ...string) *Process {
	t.Helper()
	cmd := held(exec.Command(program, args...), nil)
	cmd.Dir = t.TempDir()
	return launch(t, cmd, syscall.SIGKILL, ready)
}

func launch(t testing.TB, cmd *exec.Cmd, kill syscall.Signal, ready func() error) *Process {
	t.Helper()
	p, err := begin(cmd, kill)
	must(t, err)
	t.Cleanup(p.Kill)
	must(t, p.await(ready))
	return p
}

// begin starts a server, which is for the caller to kill.
func begin(cmd *exec.Cmd, kill syscall.Signal) (*Process, error) {
	p := &Process{cmd: cmd, kill: kill, gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // how it ended does not matter
	}()
	return p, nil
}

// await waits until ready returns nil.
func (p *Process) await(ready func() error) error {
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.gone:
			return fmt.Errorf("%s has ended: %w; it said: %s", p.cmd.Path, err, p.text())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not answer: %w; it said: %s", p.cmd.Path, err, p.text())
		}
	}
}

// Kill ends the server at once, as kill -9 does, even while it is paused.
func (p *Process) Kill() { p.end(p.kill) }

// Stop has the server end in order.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(signal syscall.Signal) {
	_ = p.cmd.Process.Signal(signal) // unless it has ended
	p.Continue()
	<-p.gone
}

// Pause stops the server until Continue is called.
func (p *Process) Pause() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue has the server go on.
func (p *Process) Continue() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// Write implements io.Writer: it keeps what the server says.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *Process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}
