package gen

import (
	"cmp"
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

// servePage serves the page of a generator until end is called, and writes its URL. Browsers
// may use the host name in the flag. No goroutine is left after end.
func (f *flags) servePage(listener net.Listener, made generator, logger *slog.Logger, notify func(string, ...any)) (end func(), err error) {
	host, _, _ := net.SplitHostPort(f.http) // which checkAddress has found good
	name := cmp.Or(f.segment, f.generator)
	page, err := uidstatus.New(map[string]uidstatus.Generator{name: made}, uidstatus.Config{Hosts: []string{host}})
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler:           page,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 14,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	notify("status page at http://%s/", listener.Addr())
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(listener); err != http.ErrServerClosed {
			logger.Warn("the status page has ended; gen continues", "error", err)
		}
	})
	return func() {
		_ = server.Close()
		served.Wait()
	}, nil
}
