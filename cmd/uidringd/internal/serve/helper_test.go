package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// pipes is a listener of connections in memory.
type pipes struct {
	port  int
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newPipes(port int) *pipes {
	return &pipes{port: port, conns: make(chan net.Conn), ended: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: p.port} }

// accepted is the server's end of a connection.
type accepted struct {
	net.Conn
	from net.Addr
}

func (a accepted) RemoteAddr() net.Addr { return a.from }

// world is a server in memory, in virtual time.
type world struct {
	*server
	t          *testing.T
	web, redis *pipes
	log        logged.Text
	stop       context.CancelFunc
	ended      chan error
	conns      struct {
		sync.Mutex
		all []net.Conn
	}
}

// inMemory runs a test of a server that has a config. The server has generators whose ids are
// ready, and rare, whose requests for 2,000 ids wait.
func inMemory(t *testing.T, text string, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(bits.Registry().Epoch)) // virtual time begins before it
		c, err := config.Parse([]byte(`
generators:
  - {name: ids, kind: slots, worker: "static:1", ids_per_s: -1}
  - {name: many, kind: cached, worker: "static:0", layout: 31/1/31, ids_per_s: -1}
  - {name: rare, kind: default, worker: "static:4", layout: "31/23/9,unit=1h", ids_per_s: -1}
`+text), config.Flags{})
		need.Must(t, err)
		w := &world{t: t, web: newPipes(8080), redis: newPipes(6380), ended: make(chan error, 1)}
		files, err := watch(c.TLS, w.log.Logger())
		need.Must(t, err)
		set, err := generators.Open(t.Context(), c, w.log.Logger())
		need.Must(t, err)
		w.server = newServer(c, set, files, w.log.Logger())
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		go func() {
			err := w.serve(ctx, w.web, w.redis, io.Discard)
			w.web.Close()
			w.redis.Close()
			_ = set.Close(context.Background())
			w.ended <- err
		}()
		defer func() {
			w.hangUp()
			stop()
			<-w.ended
		}()
		test(w)
	})
}

// dial connects from an address. A listener that has ended accepts nothing.
func (w *world) dial(to *pipes, from string) net.Conn {
	w.t.Helper()
	ours, theirs := net.Pipe()
	addr, err := net.ResolveTCPAddr("tcp", from+":1")
	need.Must(w.t, err)
	select {
	case to.conns <- accepted{theirs, addr}:
	case <-to.ended:
		_ = theirs.Close()
	}
	w.conns.Lock()
	defer w.conns.Unlock()
	w.conns.all = append(w.conns.all, ours)
	return ours
}

// hold has n clients of an address, and returns when they and the server wait for each other.
func (w *world) hold(to *pipes, from string, n int, be func(net.Conn)) {
	w.t.Helper()
	for range n {
		conn := w.dial(to, from)
		go be(conn)
	}
	synctest.Wait()
}

// hangUp ends all connections.
func (w *world) hangUp() {
	for _, conn := range w.conns.all {
		_ = conn.Close()
	}
	w.conns.all = nil
	synctest.Wait()
}

// ask sends a request on a new connection from an address, with the token a.
func (w *world) ask(from, method, path, body string) (status int, text string) {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return w.dial(w.web, from), nil
	}}}
	r, err := http.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	need.Must(w.t, err)
	r.Header.Set("Authorization", "Bearer a")
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	all, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all)
}

// expect gets a path from an address. It expects a status, and texts in the answer.
func (w *world) expect(status int, from, path string, texts ...string) {
	w.t.Helper()
	got, text := w.ask(from, http.MethodGet, path, "")
	if clitest.Wants(w.t, text, texts...); got != status {
		w.t.Errorf("%s: %d %s, want %d", path, got, text, status)
	}
}

// busy returns how many connections are busy.
func (w *world) busy() int { return w.doors.Counts().Open - w.doors.Counts().Idle }

// hash is that of the token a, and tokens the part of a config that wants that token.
var (
	hash   = fmt.Sprintf("%x", sha256.Sum256([]byte("a")))
	tokens = "tokens: [{name: a, sha256: " + hash + ", generators: [\"*\"], operations: true}]\n"
)

// send returns a client that sends a text, and reads nothing.
func send(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// dribble sends first, and then more again and again.
func dribble(first, more string) func(net.Conn) {
	return func(c net.Conn) {
		for _, err := io.WriteString(c, first); err == nil; _, err = io.WriteString(c, more) {
			time.Sleep(time.Millisecond) // so that header_bytes does not end it
		}
	}
}

// drain reads until the connection ends.
func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// begin begins HTTP/2. Each stream may send as many bytes as the window has.
func begin(c net.Conn, window uint32) *http2.Framer {
	framer := http2.NewFramer(c, c)
	_, _ = io.WriteString(c, http2.ClientPreface)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	return framer
}

// streams begins n requests, with the token a.
func streams(framer *http2.Framer, n uint32, method, path string, end bool) {
	block := header(method, path, hpack.HeaderField{Name: "authorization", Value: "Bearer a"})
	for i := range n {
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block, EndHeaders: true, EndStream: end})
	}
}

// unread asks n times by HTTP/2, and lets no answer come.
func unread(n uint32, method, path string) func(net.Conn) {
	return func(c net.Conn) {
		go streams(begin(c, 0), n, method, path, true)
		drain(c)
	}
}

func header(method, path string, more ...hpack.HeaderField) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range append([]hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":path", Value: path}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "x"},
		{Name: "content-type", Value: "application/grpc"},
	}, more...) {
		_ = encoder.WriteField(field)
	}
	return block.Bytes()
}
