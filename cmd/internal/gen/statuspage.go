package gen

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid/uidstatus"
)

const exampleAddress = "127.0.0.1:8080"

// checkAddress refuses a text that is no host and port. It wants a host, because
// without one the page would listen on every address of the machine.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return cli.Usagef("--http %q: want a host and a port, such as %s", address, exampleAddress)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return cli.Usagef("--http %q: want a port from 0 to 65535; 0 is a free one", address)
	}
	return nil
}

// statusPage is the page of a generator at an address of its own.
type statusPage struct {
	listener net.Listener
	server   *http.Server
	served   sync.WaitGroup
}

// listen takes the address. Clients that connect wait until show.
func listen(ctx context.Context, address string) (*statusPage, error) {
	var how net.ListenConfig
	listener, err := how.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	return &statusPage{listener: listener}, nil
}

// show serves the page from now on, and writes its URL. Browsers may use the host name in
// address, the value of --http.
func (p *statusPage) show(address string, made opened, logger *slog.Logger, notify func(string, ...any)) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	page, err := uidstatus.New(map[string]uidstatus.Generator{made.name: made}, uidstatus.Config{Hosts: []string{host}})
	if err != nil {
		return err
	}
	p.server = &http.Server{
		Handler:           page,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 14,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	notify("status page at http://%s/", p.listener.Addr())
	p.served.Go(func() {
		if err := p.server.Serve(p.listener); err != http.ErrServerClosed {
			logger.Warn("the status page has ended; gen continues", "error", err)
		}
	})
	return nil
}

// end frees the address. No goroutine is left.
func (p *statusPage) end() {
	if p.server != nil {
		_ = p.server.Close()
	}
	_ = p.listener.Close() // which nobody serves if nothing was shown
	p.served.Wait()
}
