//go:build linux

package torture

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// server is a server that the run starts, kills and starts again, in a directory of
// its own.
type server struct {
	command func(port string) *exec.Cmd
	url     func(address string) string // of the backend, if this were its only server
	end     syscall.Signal              // ends it at once, with all that belongs to it

	mu   sync.Mutex
	cmd  *exec.Cmd
	at   string        // its address
	gone chan struct{} // closed when cmd has ended
}

// address is where the server is, or was last. Each start has a port of its own,
// so that nobody else can have taken it.
func (s *server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// start starts the server and waits until it answers. What the last one left (a
// lock, a process on its way out) can stand in the way of the first attempts.
func (s *server) start(ctx context.Context) (err error) {
	for range 100 {
		if err = s.attempt(ctx); err == nil {
			return nil
		}
		if sleep(ctx, 200*time.Millisecond) != nil {
			break
		}
	}
	return fmt.Errorf("start a server: %w", err)
}

func (s *server) attempt(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	var said excerpt
	cmd, gone := s.command(port), make(chan struct{})
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &said, &said
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended does not matter
	}()
	s.mu.Lock()
	s.cmd, s.at, s.gone = cmd, address, gone
	s.mu.Unlock()
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-gone:
			return fmt.Errorf("%w; it said: %s", err, &said)
		case <-ctx.Done():
			s.stop(s.end)
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answers returns nil if the server serves. A session may take a while to begin.
func (s *server) answers(ctx context.Context) error {
	a, err := open(s.url(s.address()))
	if err != nil {
		return err
	}
	defer a.close()
	for range 20 {
		if a.ping == nil {
			return nil
		}
		within, cancel := context.WithTimeout(ctx, time.Second)
		err = a.ping(within)
		cancel()
		if err == nil || sleep(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
	return err
}

// stop sends the server a signal that ends it, and waits for that.
func (s *server) stop(signal syscall.Signal) {
	s.mu.Lock()
	cmd, gone := s.cmd, s.gone
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(signal) // unless it has ended
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-gone
	}
}
