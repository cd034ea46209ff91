package resp_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCatalog returns two counters: one from 1, and one whose ranges of ten ids have gaps between
// them. It also has a clocked generator that limits a caller's rate, one that panics, and names that fail.
func newCatalog(t testing.TB) *servicetest.Catalog {
	t.Helper()
	layout, c := bits.Registry(), servicetest.New()
	c.Errors["unavailable"], c.Errors["spent"], c.Errors["hangs"] = servicetest.ErrDriver, segment.ErrUsedUp, uid.ErrNotReady
	cached, err := uid.NewCached(t.Context(), lease.NewStatic(37), uid.CachedConfig{Layout: layout})
	c.Add(t, "ids", "cached", &layout, cached, err)
	rare, err := uid.NewCached(t.Context(), lease.NewStatic(38), uid.CachedConfig{Layout: layout})
	entry := c.Add(t, "rare", "cached", &layout, rare, err)
	entry.Rate, entry.Burst, entry.MaxIDs = 1e-9, 10, 5
	orders, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, MinStep: 1_000_000})
	c.Entries["counter:__rand_int__"] = c.Add(t, "orders", "segment", nil, orders, err) // as redis-benchmark has it
	c.Entries["panics"] = new(service.Entry)                                            // without a Claimer
	return c
}

// host is a process with the server.
type host struct {
	refused error // of Begin
	fault   error // of Ready
	running atomic.Int64

	mu       sync.Mutex
	requests []service.Request
}

func (h *host) Begin(net.Conn) error {
	h.running.Add(1)
	return h.refused
}
func (h *host) End(net.Conn, error) { h.running.Add(-1) }
func (h *host) Observe(r *service.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, *r)
}
func (h *host) Ready() error { return h.fault }

// server is one under test.
type server struct {
	*resp.Server
	*host
	*servicetest.Catalog
	gate     *gate.Gate
	listener net.Listener
}

// busy returns how many connections are busy.
func (s *server) busy() int { return s.gate.Counts().Open - s.gate.Counts().Idle }

// serve serves until the test ends. Fields of c that are zero get defaults.
func serve(t testing.TB, admit service.Config, c resp.Config) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	return serveOn(t, listener, admit, c)
}

// serveOn is serve with a listener of the test's.
func serveOn(t testing.TB, listener net.Listener, admit service.Config, c resp.Config) *server {
	t.Helper()
	s := &server{listener: listener, host: new(host), Catalog: newCatalog(t), gate: gate.New(gate.Limits{All: 1000, One: 1000}, func(gate.Counts) {})}
	admit.Logger, c.Logger = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	c.IDs, c.Host, c.HTTP = service.New(s.Catalog, admit), s.host, "http://127.0.0.1:8080/"
	c.Read, c.Write, c.Idle = cmp.Or(c.Read, time.Hour), cmp.Or(c.Write, time.Hour), cmp.Or(c.Idle, time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 16<<10)
	s.Server = resp.New(c)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(s.gate.Before(s.listener)) }()
	t.Cleanup(func() {
		s.listener.Close()
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// pipes is a listener of connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn := <-p; conn != nil {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// inMemory runs a test of a server and a connection to it, in virtual time from the epoch on.
func inMemory(t *testing.T, admit service.Config, c resp.Config, test func(s *server, conn net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(bits.Registry().Epoch)) // virtual time begins before it
		listener := make(pipes)
		s := serveOn(t, listener, admit, c)
		conn, accepted := net.Pipe()
		defer conn.Close()
		listener <- accepted
		test(s, conn)
	})
}

// client is a connection that knows nothing of the protocol.
type client struct {
	t testing.TB
	net.Conn
	*bufio.Reader
}

// patience is how long a client waits for an answer that does not come.
const patience = 20 * time.Second

func (s *server) dial(t testing.TB) *client {
	t.Helper()
	return dialAt(t, s.listener.Addr().String())
}

func dialAt(t testing.TB, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	need.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	need.Must(t, conn.SetDeadline(time.Now().Add(patience)))
	return &client{t, conn, bufio.NewReader(conn)}
}

func (c *client) Read(b []byte) (int, error) { return c.Reader.Read(b) }

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads an answer of that text.
func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c, got)
	if err != nil || string(got) != want {
		more, _ := c.Peek(c.Buffered())
		c.t.Fatalf("the answer is %q, %v; want %q", string(got[:n])+string(more), err, want)
	}
}

// lines reads answers of a line each.
func (c *client) lines(n int) (lines []string) {
	c.t.Helper()
	for range n {
		line, err := c.ReadString('\n')
		need.Must(c.t, err)
		lines = append(lines, line)
	}
	return lines
}

// ends expects that the server ends the connection.
func (c *client) ends() {
	c.t.Helper()
	if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
		c.t.Fatalf("%q, %v; want the end of the connection", rest, err)
	}
}

// array writes a command as clients do.
func array(words ...string) string {
	text := "*" + itoa(len(words)) + "\r\n"
	for _, word := range words {
		text += "$" + itoa(len(word)) + "\r\n" + word + "\r\n"
	}
	return text
}

// token returns a token that has its name as its text.
func token(name string, may ...string) service.Token {
	t := service.Token{Name: name, Hash: sha256.Sum256([]byte(name))}
	if may != nil {
		t.May = func(generator string) bool {
			return strings.Contains(" "+strings.Join(may, " ")+" ", " "+generator+" ")
		}
	}
	return t
}
