package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/uidring/uidring/uid/uidhttp"
)

// pageEnd is how long requests that are being answered have when the page ends.
const pageEnd = time.Second

// pageAddress refuses what is no host and port. A host is asked for, since none
// would be every address that the machine has.
func pageAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return usagef("--http %q: want a host and a port, such as 127.0.0.1:8080", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return usagef("--http %q: want a port from 0 to 65535; 0 is a free one", address)
	}
	return nil
}

// statusPage is the page of a generator at an address of its own.
type statusPage struct {
	listener net.Listener
	server   *http.Server
	served   sync.WaitGroup
}

// listenForPage takes the address. Who calls now waits until show.
func listenForPage(ctx context.Context, address string) (*statusPage, error) {
	var how net.ListenConfig
	listener, err := how.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	return &statusPage{listener: listener}, nil
}

// show answers from now on, and tells stderr where.
func (p *statusPage) show(name string, made uidhttp.Generator, logger *slog.Logger, stderr io.Writer) {
	p.server = &http.Server{
		Handler:           uidhttp.Handler(map[string]uidhttp.Generator{name: made}),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 14,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	fmt.Fprintf(stderr, "uidring: status page at http://%s/\n", p.listener.Addr())
	p.served.Go(func() {
		if err := p.server.Serve(p.listener); err != http.ErrServerClosed {
			logger.Warn("the status page has ended; ids go on", "error", err)
		}
	})
}

// end frees the address. No goroutine is left.
func (p *statusPage) end() {
	if p.server == nil { // nothing was shown
		_ = p.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pageEnd)
	defer cancel()
	if err := p.server.Shutdown(ctx); err != nil {
		_ = p.server.Close()
	}
	p.served.Wait()
}
