//go:build linux

package torture

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/uidring/uidring/internal/test/servertest"
)

// server is a server that the run starts, kills and starts again.
type server struct {
	servertest.Program
	url func(address string) string // of a backend with this server only

	mu      sync.Mutex
	process *servertest.Process
	at      string // its address
}

// address returns the address of the last start. Each start has a new port, so that nobody
// else can have taken it.
func (s *server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// start starts the server and waits until it answers. The first attempts can fail because
// of a lock, or of a process that has not ended yet.
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
	process, err := s.Launch(ctx, address, func() error { return s.answers(ctx, address) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.at = process, address
	return nil
}

// answers returns nil if the server serves. A session may take a while to begin.
func (s *server) answers(ctx context.Context, address string) error {
	a, err := open(s.url(address), silent)
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

// stop sends the server a signal, and waits until the server has ended.
func (s *server) stop(signal syscall.Signal) {
	s.mu.Lock()
	process := s.process
	s.mu.Unlock()
	if process != nil {
		process.End(signal)
	}
}
