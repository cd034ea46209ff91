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
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

type server struct {
	config    *config.Config
	set       *generators.Set
	ids       *service.Service
	seen      *observer
	doors     *gate.Gate
	files     *certificates // nil without TLS
	logger    *slog.Logger
	address   string        // of the listener of HTTP
	redisAt   net.Addr      // where the Redis protocol is served; nil if it is not
	running   atomic.Int64  // requests under way, probes left out; written by requests
	refused   atomic.Int64  // requests whose refusal is under way; written by requests
	probes    atomic.Int64  // under way; written by probes
	draining  atomic.Bool   // written by stop; read by requests
	stopped   chan struct{} // closed when no more requests are accepted
	readiness readiness
}

// serve opens the generators and serves until ctx ends. trial is true without a config file.
func serve(ctx context.Context, c *config.Config, trial bool, logger *slog.Logger, stdout io.Writer) error {
	files, err := watch(c.TLS, logger) // nil without TLS
	if err != nil {
		return err
	}
	// An address that is taken costs no worker number.
	web, err := listen(ctx, c.Listen, c.SocketMode)
	if err != nil {
		return cli.CauseOf(ctx, fmt.Errorf("listen (or --listen): %w", err))
	}
	defer web.Close()
	redis, err := listenRedis(ctx, c, trial, logger)
	if err != nil {
		return cli.CauseOf(ctx, fmt.Errorf("redis.listen (or --redis): %w", err))
	}
	if redis != nil {
		defer redis.Close()
	}
	set, err := generators.Open(ctx, c, logger)
	if err != nil {
		return cli.CauseOf(ctx, err)
	}
	err = newServer(c, set, files, logger).serve(ctx, web, redis, stdout)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown.Release)
	defer cancel()
	if failed := set.Close(closing); failed != nil {
		err = errors.Join(err, fmt.Errorf("some numbers or ranges were not given back: %w", failed))
	}
	if err == nil {
		logger.Info("stopped")
	}
	return err
}

// newServer returns a server of generators that are open.
func newServer(c *config.Config, set *generators.Set, files *certificates, logger *slog.Logger) *server {
	s := &server{config: c, set: set, files: files, logger: logger, stopped: make(chan struct{})}
	seldomFull := rate.Sometimes{Interval: time.Second}
	limits, few := fits(c.Limits)
	if few != nil {
		logger.Warn("the limit of open files is too low", "error", few)
	}
	s.doors = gate.New(limits, func(now gate.Counts) {
		seldomFull.Do(func() {
			logger.Warn("too many connections: closing idle ones, and refusing new ones from addresses without idle ones",
				"open", now.Open, "idle", now.Idle, "ended", now.Ended, "refused", now.Refused)
		})
	})
	s.ids, s.seen = service.New(set, admits(c, logger)), newObserver(set, logger, c.Log.Requests)
	s.seen.registry.MustRegister(s.collectors()...) // names of generators differ
	return s
}

// serve serves HTTP, and the Redis protocol unless redis is nil, until ctx ends.
func (s *server) serve(ctx context.Context, listener, redis net.Listener, stdout io.Writer) error {
	s.address = listener.Addr().String()
	if redis != nil {
		s.redisAt = redis.Addr()
	}
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(service.ErrStopping)
	web, err := s.web(base)
	if err != nil {
		return err
	}
	where, start := "http://"+s.address+"/", web.Serve
	if secure(listener, s.files) {
		where, start = "https://"+s.address+"/", func(l net.Listener) error { return web.ServeTLS(l, "", "") }
	} else if listener.Addr().Network() == "unix" {
		where = addressOf(listener)
	}
	if _, err := fmt.Fprintf(stdout, "uidringd: serving at %s\n", where); err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- start(s.doors.Before(listener)) }()
	endRedis, err := s.serveRedis(redis, where, stdout, ended)
	defer func() {
		cut(service.ErrStopping)
		_ = endRedis(base) // has ended, unless an error ends the server
	}()
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stop(web, cut, endRedis)
	<-ended
	return nil
}

// web returns the server of HTTP. The context of its requests is base.
func (s *server) web(base context.Context) (*http.Server, error) {
	handler, err := s.handler()
	if err != nil {
		return nil, err
	}
	limits := s.config.Limits
	web := &http.Server{
		Handler:        handler,
		TLSConfig:      s.files.config(),
		ReadTimeout:    limits.Read,
		WriteTimeout:   limits.Write,
		IdleTimeout:    limits.Idle,
		MaxHeaderBytes: limits.HeaderBytes,
		ErrorLog:       log.New(&seldom{s.logger, rate.NewLimiter(10, 10)}, "", 0),
		BaseContext:    func(net.Listener) context.Context { return base },
		ConnContext:    gate.Context,
		ConnState:      gate.State,
		Protocols:      new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: limits.Streams,
			// WriteTimeout ends a stream. A client that reads nothing from its connection would
			// keep the connection.
			WriteByteTimeout: limits.Write,
			// A request has a few hundred bytes. By default, a connection holds 1 MiB for bodies
			// that nobody reads, and as much for a frame that has not arrived. net/http allows no less.
			MaxReceiveBufferPerConnection: 64 << 10,
			MaxReceiveBufferPerStream:     64 << 10,
			MaxReadFrameSize:              16 << 10,
		},
	}
	web.RegisterOnShutdown(func() { close(s.stopped) })
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetHTTP2(true)
	web.Protocols.SetUnencryptedHTTP2(true) // for gRPC without TLS
	return web, nil
}

// stop ends the server. Requests that outlast the time to drain are cut off. The server still exits
// with 0, since a slow client can cause that.
func (s *server) stop(web *http.Server, cut context.CancelCauseFunc, endRedis func(context.Context) error) {
	s.draining.Store(true)
	how := s.config.Shutdown
	s.logger.Info("stopping", "delay", how.Delay, "drain", how.Drain)
	time.Sleep(how.Delay) // a second signal ends the process
	draining, cancel := context.WithTimeout(context.Background(), how.Drain)
	defer cancel()
	var ending sync.WaitGroup
	ending.Go(func() {
		if err := endRedis(draining); err != nil {
			s.logger.Warn("commands were cut off", "after", how.Drain)
		}
	})
	if err := web.Shutdown(draining); err != nil {
		s.logger.Warn("requests were cut off", "after", how.Drain)
		cut(service.ErrStopping) // before connections end, which looks as if clients had gone
		_ = web.Close()          // no one is left to tell
	}
	ending.Wait()
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
