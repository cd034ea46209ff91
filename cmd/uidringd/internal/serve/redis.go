package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"syscall"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// redisHost is the server as a [resp.Host].
type redisHost struct{ *server }

// Begin implements [resp.Host]. The limits are those of HTTP.
func (r redisHost) Begin(nc net.Conn) (*service.Service, error) {
	now := r.now.Load()
	now.seen.inFlight.Inc()
	clients, extra := gate.OfConn(nc)
	return now.ids, r.begin(now.config.Limits, clients, extra)
}

// End implements [resp.Host].
func (r redisHost) End(nc net.Conn) {
	clients, _ := gate.OfConn(nc)
	r.end(clients)
	r.now.Load().seen.inFlight.Dec()
}

// Observe implements [resp.Host].
func (r redisHost) Observe(about *resp.Request) {
	r.now.Load().seen.observe(request{
		route: about.Route, proto: protos[about.Version], remote: about.Remote, caller: about.Caller, status: http.StatusOK,
		failed: about.Failed, count: about.Count, bytes: int64(about.Bytes), took: about.Took,
	}, about.Ended)
}

// protos are the names of the protocol's versions.
var protos = map[int]string{2: "RESP2", 3: "RESP3"}

// State implements [resp.Host].
func (r redisHost) State(nc net.Conn, state http.ConnState) { r.doors.State(nc, state) }

// Draining implements [resp.Host].
func (r redisHost) Draining() bool { return r.draining.Load() }

// Ready implements [resp.Host].
func (r redisHost) Ready() error {
	_, _, fault := r.ready("")
	return fault
}

// Generators implements [resp.Host].
func (r redisHost) Generators() []resp.Generator {
	c, unready := r.now.Load().config, r.look()
	all := make([]resp.Generator, len(c.Generators))
	for i, entry := range c.Generators {
		base := entry.Common()
		all[i] = resp.Generator{Name: base.Name, Kind: base.Kind, MaxIDs: cmp.Or(base.IDs, c.Limits.IDs)}
		if tags, many := entry.Generator.(*config.Tags); many {
			all[i].Match = tags.Match
		}
		if clock := entry.Clock(); clock != nil {
			all[i].Layout = clock.Layout.String()
		}
		if err := unready[base.Name]; err != nil {
			all[i].Fault = service.Reason(err)
		}
	}
	return all
}

// listenRedis listens for the Redis protocol. It returns nil if the config wants none. trial is
// true without a config: then it returns nil too if the default address is taken.
func listenRedis(ctx context.Context, c *config.Config, trial bool, logger *slog.Logger) (net.Listener, error) {
	if c.Redis == nil {
		return nil, nil
	}
	l, err := listen(ctx, c.Redis.Listen, c.SocketMode)
	if trial && c.Redis.Listen == config.DemoRedis && errors.Is(err, syscall.EADDRINUSE) {
		logger.Warn("the Redis protocol is not served: another process has its port; give another address by --redis", "address", c.Redis.Listen)
		return nil, nil
	}
	return l, err
}

// commands serves the Redis protocol at a listener.
type commands struct {
	*resp.Server
	listener net.Listener
}

// serveRedis begins to serve the Redis protocol. It sends the error to ended when the listener
// fails. web is where HTTP is served. Without a listener, it returns nil.
func (s *server) serveRedis(c *config.Config, l net.Listener, web string, stdout io.Writer, ended chan<- error) (*commands, error) {
	if l == nil {
		return nil, nil
	}
	run := &commands{listener: l, Server: resp.New(resp.Config{
		Host: redisHost{s}, Logger: s.logger, HTTP: web,
		MaxBytes: c.Limits.HeaderBytes, Read: c.Limits.Read, Write: c.Limits.Write, Idle: c.Limits.Idle,
	})}
	if secure(l, s.files) {
		run.TLS = s.files.config()
	}
	go func() {
		if err := run.Serve(s.doors.Also(l)); err != nil {
			ended <- err
		}
	}()
	example := pathOf(c.Generators[0].Generator)
	_, err := fmt.Fprintf(stdout, "uidringd: serving the Redis protocol at %s: %s INCR %s\n", place(l), redisCLI(c, l.Addr(), ""), example)
	return run, err
}

// shutdown ends the server, if there is one, within ctx. It may be called twice.
func (c *commands) shutdown(ctx context.Context) error {
	if c == nil {
		return nil
	}
	_ = c.listener.Close() // nobody is left to tell
	return c.Shutdown(ctx)
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
		if host != "" && host != "127.0.0.1" {
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
