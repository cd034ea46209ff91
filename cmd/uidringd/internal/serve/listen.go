package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// listen listens at an address of the config. It removes the file of a socket that a server
// left when it crashed.
func listen(ctx context.Context, address string, mode config.Mode) (net.Listener, error) {
	network, address := config.Network(address)
	if network != "unix" {
		return new(net.ListenConfig).Listen(ctx, network, address)
	}
	if err := removeStale(ctx, address); err != nil {
		return nil, fmt.Errorf("listen unix %s: %w", address, err)
	}
	defer umask(0o777)()
	l, err := new(net.ListenConfig).Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, fs.FileMode(mode)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the file of a socket at which nobody listens.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("the file is not a socket; use another path, or remove the file")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close()
		return errors.New("another process listens on the socket; use another path, or stop that process")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("check whether a process listens on the socket: %w", err)
}

// addressOf writes a listener's address as the config does.
func addressOf(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + l.Addr().String()
	}
	return l.Addr().String()
}
