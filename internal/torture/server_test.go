//go:build linux

package torture

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/uidring/uidring/internal/database"
)

// server is a database server that the run starts, kills and starts again, in a
// directory of its own.
type server struct {
	command func(port string) *exec.Cmd
	url     func(address string) string // of the database at an address
	end     syscall.Signal              // ends it at once, with all that belongs to it

	mu   sync.Mutex
	cmd  *exec.Cmd
	at   string        // its address
	gone chan struct{} // closed when cmd has ended
}

// address is where the server is, or was last. Each start has a port of its own,
// so that nobody else can have taken it.
func (s *server) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// start starts the server and waits until it answers. What the last one left (a
// lock, a process on its way out) can stand in the way of the first attempts.
func (s *server) start(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if err = s.attempt(ctx); err == nil {
			return nil
		}
		_ = sleep(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("start a server: %w", err)
}

func (s *server) attempt(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	var said excerpt
	cmd, gone := s.command(port), make(chan struct{})
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended does not matter
	}()
	s.mu.Lock()
	s.cmd, s.at, s.gone = cmd, net.JoinHostPort("127.0.0.1", port), gone
	s.mu.Unlock()
	for {
		db, err := database.Open(s.url(s.address()))
		if err == nil {
			return database.Close(db)
		}
		select {
		case <-gone:
			return fmt.Errorf("%w; it said: %s", err, &said)
		case <-ctx.Done():
			s.stop(s.end)
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop sends the server a signal that ends it, and waits for that.
func (s *server) stop(signal syscall.Signal) {
	s.mu.Lock()
	cmd, gone := s.cmd, s.gone
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(signal) // unless it has ended
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-gone
	}
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// find looks for a program on PATH and in the usual places, of several versions
// for the last.
func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.EvalSymlinks(path)
		}
		for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"} {
			paths, _ := filepath.Glob(filepath.Join(pattern, name))
			if len(paths) > 0 {
				return paths[len(paths)-1], nil
			}
		}
	}
	return "", fmt.Errorf("there is no %s here", names[0])
}

// hand gives a directory to a user that is not root, since PostgreSQL refuses to
// run as root. It returns nil where it need not be done.
func hand(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 != nil || err2 != nil || uid == 0 {
			continue
		}
		// The directory above is the run's own: to be passed through is enough.
		if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
	}
	return nil, fmt.Errorf("there is no user to run PostgreSQL as")
}
