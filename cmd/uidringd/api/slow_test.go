package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/netutil"

	"github.com/uidring/uidring/cmd/uidringd/service"
)

// long asks for more bytes than the kernel holds for a client that does not read.
const long = "GET /v1/orders?n=1000000 HTTP/1.1\r\nHost: x\r\n\r\n"

// smallBuffers has the kernel hold little, so that an answer waits for its reader.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// serve serves until the test ends, and counts the requests that are being answered.
func serve(t *testing.T, change func(*httptest.Server), config service.Config) (address string, answering *atomic.Int64) {
	t.Helper()
	all := newEntries(t)
	all["orders"].MaxIDs = 1_000_000
	h := newHandler(t, all, config)
	answering = new(atomic.Int64)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering.Add(1)
		defer answering.Add(-1)
		h.ServeHTTP(w, r)
	}))
	change(server)
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), answering
}

// send connects and sends the beginning of a request.
func send(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSlowClients has many more clients read and write slowly than requests may draw at
// once. All others are served meanwhile.
func TestSlowClients(t *testing.T) {
	const slow = 40
	address, answering := serve(t, func(s *httptest.Server) { s.Listener = smallBuffers{s.Listener} }, service.Config{Concurrent: 1})
	for range slow {
		send(t, address, "GET /v1/orders HTTP/1.1\r\nHost: x\r\n")
	}
	for range slow {
		reader := send(t, address, long)
		io.ReadFull(reader, make([]byte, 1)) // the next would be refused before
	}
	fast := send(t, address, "")
	in := bufio.NewReader(fast)
	for range 500 {
		fmt.Fprint(fast, "GET /v1/orders HTTP/1.1\r\nHost: x\r\n\r\n")
		response, err := http.ReadResponse(in, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", response, err)
		}
		io.Copy(io.Discard, response.Body)
	}
	if n := answering.Load(); n != slow {
		t.Errorf("%d slow clients are being answered, want %d", n, slow)
	}
}

// TestSlowloris has slow clients take all connections. The server's time limits free
// them.
func TestSlowloris(t *testing.T) {
	const most = 4
	address, _ := serve(t, func(s *httptest.Server) {
		s.Listener = netutil.LimitListener(smallBuffers{s.Listener}, most)
		s.Config.ReadHeaderTimeout, s.Config.WriteTimeout, s.Config.IdleTimeout = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	}, service.Config{})
	var conns []net.Conn
	for _, text := range []string{"", "GET /v1/or", "GET /v1/orders HTTP/1.1\r\nHost: x\r\n", long} {
		for range most {
			conns = append(conns, send(t, address, text))
		}
	}
	fast := send(t, address, "GET /v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if answer, err := io.ReadAll(fast); err != nil || len(answer) == 0 {
		t.Errorf("answer is %q, %v", answer, err)
	}
	for _, conn := range conns {
		io.Copy(io.Discard, conn) // until the server closes it
	}
}
