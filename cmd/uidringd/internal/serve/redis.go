package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// The server is the [resp.Host]: commands have the limits of requests by HTTP.

func (s *server) Begin(nc net.Conn) error {
	s.seen.inFlight.Inc()
	clients, extra := gate.Of(nc).Clients()
	return s.begin(s.config.Limits, clients, extra)
}

func (s *server) End(nc net.Conn, refused error) {
	clients, _ := gate.Of(nc).Clients()
	s.end(clients, refused)
	s.seen.inFlight.Dec()
}

func (s *server) Observe(r *service.Request) { s.seen.observe(r) }

func (s *server) Ready() error {
	_, _, fault := s.ready("")
	return fault
}

// listenRedis listens for the Redis protocol. It returns nil if the config wants none. trial is
// true without a config: then it returns nil too if the default address is taken.
func listenRedis(ctx context.Context, c *config.Config, trial bool, logger *slog.Logger) (net.Listener, error) {
	if c.Redis == nil {
		return nil, nil
	}
	l, err := listen(ctx, c.Redis.Listen, c.SocketMode)
	if trial && c.Redis.Listen == config.DemoRedis && errors.Is(err, syscall.EADDRINUSE) {
		logger.Warn("the Redis protocol is not served: another process uses its port; set another address with --redis", "address", c.Redis.Listen)
		return nil, nil
	}
	return l, err
}

// serveRedis begins to serve the Redis protocol, unless l is nil, and returns what ends that
// within a context. It sends the error to ended when the listener fails. web is where HTTP is
// served.
func (s *server) serveRedis(l net.Listener, web string, stdout io.Writer, ended chan<- error) (end func(context.Context) error, err error) {
	if l == nil {
		return func(context.Context) error { return nil }, nil
	}
	limits := s.config.Limits
	run := resp.New(resp.Config{
		Host: s, IDs: s.ids, Logger: s.logger, HTTP: web,
		MaxBytes: limits.HeaderBytes, Read: limits.Read, Write: limits.Write, Idle: limits.Idle,
	})
	if secure(l, s.files) {
		run.TLS = s.files.config()
	}
	go func() {
		if err := run.Serve(s.doors.Before(l)); err != nil {
			ended <- err
		}
	}()
	example := redisCLI(s.config, l.Addr(), "") + " INCR " + s.listed()[0].Path
	_, err = fmt.Fprintf(stdout, "uidringd: serving the Redis protocol at %s: %s\n", addressOf(l), example)
	return func(ctx context.Context) error {
		_ = l.Close() // nobody is left to tell
		return run.Shutdown(ctx)
	}, err
}

// secure reports whether connections of a listener use TLS.
func secure(l net.Listener, files *certificates) bool {
	return files != nil && l.Addr().Network() != "unix"
}

// redisCLI returns a command that sends more commands to an address. It works in a shell if
// the variable TOKEN has the token.
func redisCLI(c *config.Config, l net.Addr, host string) string {
	line := "redis-cli"
	if l.Network() == "unix" {
		line += " -s " + l.String()
	} else {
		at, port, _ := net.SplitHostPort(l.String())
		if ip := net.ParseIP(at); ip != nil && !ip.IsUnspecified() {
			host = at
		}
		if host != "127.0.0.1" && hostPattern.MatchString(host) {
			line += " -h " + host
		}
		line += " -p " + port
		if c.TLS != nil {
			line += " --tls"
		}
	}
	if len(c.Tokens) > 0 {
		line = `REDISCLI_AUTH="$TOKEN" ` + line
	}
	return line
}
