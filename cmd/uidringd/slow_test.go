package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/internal/test/servertest"
)

// many asks for more bytes than the kernel holds for a client that does not read.
const many = "/v1/ids?n=1000000"

// slow are the ways to hold a connection. Each returns when the connection ends, or
// keeps it open without a word.
var slow = map[string]func(net.Conn){
	"nothing sent":      func(net.Conn) {},
	"half a header":     func(c net.Conn) { io.WriteString(c, "GET /v1/ids HTTP/1.1\r\nHost: ") },
	"dribbled header":   func(c net.Conn) { dribble(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nX: ", "x") },
	"body never sent":   func(c net.Conn) { io.WriteString(c, post+"Content-Length: 17\r\n\r\n") },
	"dribbled body":     func(c net.Conn) { dribble(c, post+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n") },
	"body not wanted":   func(c net.Conn) { io.WriteString(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n") },
	"idle":              func(c net.Conn) { io.WriteString(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\n\r\n") },
	"answer never read": func(c net.Conn) { io.WriteString(c, "GET "+many+" HTTP/1.1\r\nHost: x\r\n\r\n") },
	"pipelined, answers never read": func(c net.Conn) {
		dribble(c, "", strings.Repeat("GET /v1/ids?n=10000 HTTP/1.1\r\nHost: x\r\n\r\n", 100))
	},
	"h2: half a preface": func(c net.Conn) { io.WriteString(c, http2.ClientPreface[:20]) },
	"h2: preface alone":  func(c net.Conn) { io.WriteString(c, http2.ClientPreface) },
	"h2: no request":     func(c net.Conn) { begin(c, 1<<16) },
	"h2: pings alone": func(c net.Conn) {
		framer := begin(c, 1<<16)
		go io.Copy(io.Discard, c)
		for framer.WritePing(false, [8]byte{}) == nil {
			time.Sleep(time.Millisecond) // the limits of control frames are not meant here
		}
	},
	"h2: half a header": func(c net.Conn) {
		begin(c, 1<<16).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header("GET", "/v1/ids"), EndStream: true})
	},
	"h2: body never sent": func(c net.Conn) {
		streams(begin(c, 1<<16), 100, "POST", "/uidring.v1.IdService/Next", false)
	},
	"h2: reflection held open": func(c net.Conn) {
		framer := begin(c, 1<<16)
		streams(framer, 1, "POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", false)
		framer.WriteData(1, false, []byte{0, 0, 0, 0, 2, 0x3a, 0}) // list services
	},
	"h2: no window for answers": func(c net.Conn) {
		streams(begin(c, 0), 100, "GET", "/v1/ids", true)
		io.Copy(io.Discard, c)
	},
	"h2: answers never read": func(c net.Conn) {
		framer := begin(c, 1<<31-1)
		framer.WriteWindowUpdate(0, 1<<31-1-65535)
		streams(framer, 5, "GET", many, true)
	},
	"Redis: half a command":     func(c net.Conn) { io.WriteString(c, "*2\r\n$4\r\nINCR\r\n") },
	"Redis: dribbled command":   func(c net.Conn) { dribble(c, "*2\r\n$4\r\nINCR\r\n$1000\r\n", "x") },
	"Redis: answers never read": func(c net.Conn) { dribble(c, "", strings.Repeat("UID.RUNS ids 10000\r\nGET ids\r\n", 1000)) },
	"Redis: idle":               func(c net.Conn) { io.WriteString(c, "INCR ids\r\n") },
	"Redis: no command":         func(net.Conn) {},
}

// holdSlow has n clients of each kind in slow at a server, at the port of their protocol.
func holdSlow(t *testing.T, r *running, name string, n int) {
	t.Helper()
	address := r.address()
	if strings.HasPrefix(name, "Redis: ") {
		address = r.redisAddress
	}
	hold(t, address, n, slow[name])
}

const post = "POST /uidring.v1.IdService/Next HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

// dribble sends first, and then more again and again.
func dribble(c net.Conn, first, more string) {
	for _, err := io.WriteString(c, first); err == nil; _, err = io.WriteString(c, more) {
		time.Sleep(time.Millisecond) // so that header_bytes does not end it
	}
}

// begin begins HTTP/2. Each stream may send as many bytes as the window has.
func begin(c net.Conn, window uint32) *http2.Framer {
	io.WriteString(c, http2.ClientPreface)
	framer := http2.NewFramer(c, c)
	framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	return framer
}

// streams begins n requests.
func streams(framer *http2.Framer, n uint32, method, path string, end bool) {
	for i := range n {
		framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: header(method, path), EndHeaders: true, EndStream: end})
	}
}

func header(method, path string, more ...hpack.HeaderField) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range append([]hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":path", Value: path}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "x"},
		{Name: "content-type", Value: "application/grpc"},
	}, more...) {
		encoder.WriteField(field)
	}
	return block.Bytes()
}

// reach connects to an address until the test ends.
func reach(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// ended reports whether the server ends a connection.
func ended(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// hold has n slow clients at an address, until end or the test's end.
func hold(t *testing.T, address string, n int, be func(net.Conn)) (end func()) {
	t.Helper()
	var clients sync.WaitGroup
	t.Cleanup(clients.Wait)
	var open []net.Conn
	for range n {
		conn := reach(t, address)
		conn.SetReadBuffer(4 << 10)
		clients.Go(func() { be(conn) })
		open = append(open, conn)
	}
	return func() {
		for _, conn := range open {
			conn.Close()
		}
	}
}

// ask asks for an id on a new connection, and returns the status of the answer.
func ask(ctx context.Context, url string) (int, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/ids", nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// slowConfig has limits to add.
const slowConfig = `
stores: [{name: file, url: ids.db}]
generators: [{name: ids, kind: segment, store: file, create: true, min_step: 10000000}]
log: {requests_per_s: 0}
shutdown: {delay: 0s, drain: 1ms}
`

// TestSlowClientsEnd has a slow client take the only connection there is, which both
// protocols share. The server ends it when the limits say so, and the next client is served.
func TestSlowClientsEnd(t *testing.T) {
	const limits = "limits: {ids: 1000000, connections: 1, read: 200ms, write: 200ms, idle: 200ms, wait: 200ms}\n"
	for name := range slow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startConfig(t, slowConfig+limits)
			holdSlow(t, r, name, 1)
			servertest.Eventually(t, "the slow client is ended", func() bool {
				status, err := ask(t.Context(), r.url)
				return err == nil && status == http.StatusOK
			})
		})
	}
}

// TestReadAndIdle shows which of the two limits ends which connection: read that of half a
// request, and idle that between requests.
func TestReadAndIdle(t *testing.T) {
	for limits, be := range map[string]string{"read: 200ms, idle: 1h": "half a header", "read: 1h, idle: 200ms": "idle"} {
		r := startConfig(t, slowConfig+"limits: {write: 1h, "+limits+"}\n")
		other := reach(t, r.address())
		slow[map[string]string{"idle": "half a header", "half a header": "idle"}[be]](other)
		conn := reach(t, r.address())
		slow[be](conn)
		if !ended(t, conn) {
			t.Errorf("%s: a connection with %s is open", limits, be)
		}
		if _, err := io.WriteString(other, "\r\n\r\n"); err != nil { // the end of the header; between requests it is skipped
			t.Fatal(err)
		}
		if _, err := io.WriteString(other, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(other)
		if n := bytes.Count(text, []byte("HTTP/1.1 ")); n != 2 {
			t.Errorf("%s: %d answers by the other connection, want 2", limits, n)
		}
		r.end(t, os.Interrupt)
	}
}
