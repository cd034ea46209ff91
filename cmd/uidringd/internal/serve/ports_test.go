package serve

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/internal/test/need"
)

// A client without TLS at a port with TLS gets a line in the log, and many get few.
func TestHandshakeFails(t *testing.T) {
	inMemory(t, secured, func(w *world) {
		for to, tt := range map[*pipes]struct {
			line string
			most int // in a second
		}{w.web: {"http: TLS handshake error", 10}, w.redis: {"redis: a handshake failed", 1}} {
			for n := range 50 {
				w.hold(to, "10.0.0.1", 1, send("*1\r\n$4\r\nPING\r\n"))
				if lines := strings.Count(w.log.String(), tt.line); lines != min(n+1, tt.most) {
					t.Fatalf("%d lines %q after %d clients: %s", lines, tt.line, n+1, &w.log)
				}
			}
		}
	})
}

// A server whose second address is taken opens no generator. If it fails, it leaves its addresses.
func TestStartFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer taken.Close()
	dir := t.TempDir()
	for want, tt := range map[string]struct{ redis, file string }{
		"address already in use": {taken.Addr().String(), "ids.db"},
		`generator "ids": `:      {"unix:" + filepath.Join(dir, "redis"), "none/ids.db"},
	} {
		c, err := config.Parse(fmt.Appendf(nil, "listen: unix:%s/web\nredis: {listen: %q}\nstores: [{name: f, url: %s/%s}]\ngenerators: [{name: ids, kind: cached, store: f}]\n",
			dir, tt.redis, dir, tt.file), config.Flags{})
		need.Must(t, err)
		need.Error(t, serve(t.Context(), c, false, slog.New(slog.DiscardHandler), io.Discard), nil, want)
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("files %v, %v; want neither a socket nor a database", files, err)
		}
	}
}

// A socket has the mode of the config. The file that a crash left is replaced. A socket in use, and
// a file that is none, are errors. Other files of the process have their own modes.
func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	open := func() (net.Listener, error) { return listen(context.Background(), "unix:"+path, 0o620) }
	l, err := open()
	need.Must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|0o620 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	_, err = open()
	need.Error(t, err, nil, "another process listens on the socket; use another path, or stop that process")
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = open(); err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	need.Must(t, l.Close())
	need.Must(t, os.WriteFile(path, []byte("precious"), 0o600))
	_, err = open()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("a file made after the socket: %v, %v; want 0600", info.Mode(), err)
	}
	need.Error(t, err, nil, "the file is not a socket; use another path, or remove the file")
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("the file has %q", text)
	}
}

// An error of the listener of HTTP ends the server, and connections of Redis with it.
func TestListenerFails(t *testing.T) {
	inMemory(t, "", func(w *world) {
		w.hold(w.redis, "10.0.0.1", 1, slow["Redis: idle"])
		w.web.Close()
		err := <-w.ended
		w.ended <- err
		if n := w.doors.Counts().Open; err == nil || n > 0 {
			t.Errorf("%v, and %d connections are open", err, n)
		}
	})
}
