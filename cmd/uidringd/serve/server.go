package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/uidring/cli"
	"github.com/uidring/uidring/cmd/uidringd/config"
	"github.com/uidring/uidring/cmd/uidringd/generators"
	"github.com/uidring/uidring/cmd/uidringd/internal/deadline"
)

// server serves a set of generators.
type server struct {
	config   *config.Config
	set      *generators.Set
	logger   *slog.Logger
	draining atomic.Bool // written by stop; read by requests
	unready  readiness
}

// heapReserve is how many bytes serve allocates and never touches. Untouched, they take
// no memory; the collector counts them as memory in use, and lets garbage grow as large
// before it runs. The server keeps few objects, so it would run for every 2 MB of
// garbage otherwise, which is for every thousandth request, and requests wait while it
// runs. Unlike a greater GOGC, the reserve adds at most twice its size to a server with
// many connections.
const heapReserve = 32 << 20

// mostStreams is how many requests a connection of HTTP/2 may have at once. An answer that
// its client does not read holds a buffer.
const mostStreams = 100

// serve opens the generators and serves until ctx ends.
func serve(ctx context.Context, c *config.Config, logger *slog.Logger, stdout io.Writer) (err error) {
	files, err := watch(c.TLS, logger) // nil without TLS
	if err != nil {
		return err
	}
	// An address that is taken costs no worker number.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return cli.CauseOf(ctx, err)
	}
	defer listener.Close()
	set, err := generators.Open(ctx, c, logger)
	if err != nil {
		return cli.CauseOf(ctx, err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown.Release)
		defer cancel()
		if failed := set.Close(closing); failed != nil {
			err = errors.Join(err, fmt.Errorf("not all was given back: %w", failed))
		}
	}()
	unused := make([]byte, heapReserve)
	defer runtime.KeepAlive(unused)
	s := &server{config: c, set: set, logger: logger}
	handler, err := s.handler(listener.Addr().String())
	if err != nil {
		return err
	}
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	web := &http.Server{
		Handler:        handler,
		TLSConfig:      files.config(),
		ReadTimeout:    c.Limits.Read,
		WriteTimeout:   c.Limits.Write,
		IdleTimeout:    c.Limits.Idle,
		MaxHeaderBytes: c.Limits.HeaderBytes,
		ErrorLog:       log.New(&seldom{logger, rate.NewLimiter(10, 10)}, "", 0),
		BaseContext:    func(net.Listener) context.Context { return base },
		Protocols:      new(http.Protocols),
		// WriteTimeout ends a stream. A client that reads nothing from its connection would
		// keep the connection.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: c.Limits.Write, MaxConcurrentStreams: mostStreams},
	}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetHTTP2(true)
	web.Protocols.SetUnencryptedHTTP2(true) // for gRPC without TLS

	scheme, start := "http", web.Serve
	if files != nil {
		scheme, start = "https", func(l net.Listener) error { return web.ServeTLS(l, "", "") }
	}
	if _, err := fmt.Fprintf(stdout, "uidringd: serving at %s://%s/\n", scheme, listener.Addr()); err != nil {
		return err
	}
	ended := make(chan error, 1)
	timed, stop := deadline.New(listener, late(c.Limits))
	defer stop()
	go func() { ended <- start(netutil.LimitListener(timed, c.Limits.Connections)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stop(web, cut)
	<-ended
	return nil
}

// late returns by how much a client may exceed the limits of time.
func late(l config.Limits) time.Duration {
	return max(10*time.Millisecond, min(time.Second, min(l.Read, l.Write, l.Idle)/8))
}

// stop ends the server. Requests that outlast the time to drain are cut off, which is
// no failure: a slow client can cause it.
func (s *server) stop(web *http.Server, cut func()) {
	s.draining.Store(true)
	s.logger.Info("stopping", "delay", s.config.Shutdown.Delay, "drain", s.config.Shutdown.Drain)
	time.Sleep(s.config.Shutdown.Delay) // a second signal ends the process
	draining, cancel := context.WithTimeout(context.Background(), s.config.Shutdown.Drain)
	defer cancel()
	if err := web.Shutdown(draining); err != nil {
		s.logger.Warn("requests were cut off", "after", s.config.Shutdown.Drain)
		cut()
		_ = web.Close() // no one is left to tell
	}
}

// seldom logs what clients have done wrong, such as a handshake that failed. It drops
// lines when there are many.
type seldom struct {
	logger *slog.Logger
	limit  *rate.Limiter
}

func (s *seldom) Write(line []byte) (int, error) {
	if s.limit.Allow() {
		s.logger.Warn("http", "error", string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}
