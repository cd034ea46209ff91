package resp

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Config is what a [Server] serves, and how.
type Config struct {
	Host   Host
	IDs    *service.Service
	Logger *slog.Logger
	TLS    *tls.Config // nil means without TLS
	HTTP   string      // where HTTP is served, for clients that send HTTP here

	MaxBytes int           // of a command
	Read     time.Duration // for the rest of a command that has begun
	Write    time.Duration // for the answers to commands that arrived together
	Idle     time.Duration // between commands
}

// Host is the process that a [Server] is a part of. Its methods are called from any number of
// goroutines. A server tells package gate itself which connections are busy.
type Host interface {
	// Begin is called when commands have arrived, and End with the error of Begin when they are
	// answered. An [*service.Error] refuses all but PING, and ends the connection. Any other error
	// ends it without an answer.
	Begin(net.Conn) error
	End(net.Conn, error)

	// Observe learns of each command, or of several equal ones. It does not keep r.
	Observe(r *service.Request)

	// Ready returns why the server should get no requests, nil if it should.
	Ready() error
}

// Server serves connections. Make one with [New].
type Server struct {
	Config
	ctx    context.Context // of draws and connections
	cut    context.CancelCauseFunc
	last   atomic.Int64   // the greatest id of a connection
	seldom rate.Sometimes // logs

	stopping context.Context // ends when Shutdown begins
	stop     context.CancelFunc
	serving  sync.WaitGroup
	mu       sync.Mutex // held while a connection enters, and to stop
}

// New returns a server. Call [Server.Shutdown] at the end.
func New(c Config) *Server {
	s := &Server{Config: c, seldom: rate.Sometimes{Interval: time.Second}}
	s.ctx, s.cut = context.WithCancelCause(context.Background())
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Serve serves the connections of a listener until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	const leastPause, longestPause = 5 * time.Millisecond, time.Second
	pause := leastPause
	for {
		accepted, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil: // no file is left, for example
			s.Logger.Error("redis: cannot accept connections", "next", pause, "error", err)
			select {
			case <-time.After(pause):
			case <-s.ctx.Done():
				return err
			}
			pause = min(2*pause, longestPause)
			continue
		}
		pause = leastPause
		if s.TLS != nil {
			accepted = tls.Server(accepted, s.TLS)
		}
		if !s.enter(newConn(s, accepted)) {
			_ = accepted.Close() // the server is stopping
		}
	}
}

// enter serves a connection, unless the server is stopping.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Err() != nil {
		return false
	}
	s.serving.Go(func() {
		defer s.leave(c)
		defer context.AfterFunc(s.stopping, func() { _ = c.net.SetReadDeadline(time.Unix(1, 0)) })() // ends the wait for a command
		defer context.AfterFunc(s.ctx, func() { _ = c.net.Close() })()
		c.serve()
	})
	return true
}

// leave ends a connection. A command that panics ends its own connection alone.
func (s *Server) leave(c *conn) {
	if fault := recover(); fault != nil {
		s.Logger.Error("redis: a command panicked", "remote", c.about.Remote, "panic", fault, "stack", string(debug.Stack()))
	}
	_ = c.net.Close() // its client is gone, or has all answers
}

// Shutdown ends idle connections at once, and all others when the commands that have arrived
// are answered. After ctx it cuts them off, and returns an error. Close the listeners first.
func (s *Server) Shutdown(ctx context.Context) (err error) {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.serving.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.cut(service.ErrStopping)
	<-ended
	return err
}
