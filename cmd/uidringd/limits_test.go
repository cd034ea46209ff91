//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/internal/test/servertest"
)

// busyConfig has a generator whose requests wait.
const busyConfig = `
generators:
  - {name: ids, kind: slots, worker: "static:1"}
  - {name: rare, kind: default, worker: "static:4", layout: "31/23/9,unit=1h", ids_per_s: -1}
shutdown: {delay: 0s, drain: 1ms}
`

// busy are the ways to have a whole request that is not answered.
var busy = []func(net.Conn){
	func(c net.Conn) { io.WriteString(c, "GET /v1/rare?n=2000 HTTP/1.1\r\nHost: x\r\n\r\n") },
	func(c net.Conn) { io.WriteString(c, "INCRBY rare 2000\r\n") },
}

// TestConnections fills all places with connections of each protocol. Those with a part of a
// request make room for others. Busy ones do not: then probes are answered, and all else is
// refused.
func TestConnections(t *testing.T) {
	r := startConfig(t, busyConfig+"limits: {connections: 20, read: 1h, write: 1h, wait: 1h}\n")
	for _, name := range []string{"nothing sent", "half a header", "body never sent", "h2: body never sent", "Redis: half a command", "Redis: dribbled command"} {
		holdSlow(t, r, name, 25)
	}
	servertest.Eventually(t, "thirty answers in a row", func() bool { // once all connections have been accepted
		for range 30 {
			if status, err := ask(t.Context(), r.url); err != nil || status != http.StatusOK {
				return false
			}
		}
		return true
	})
	if !strings.Contains(r.log.String(), `msg="too many connections: `) {
		t.Errorf("the log says nothing: %s", &r.log)
	}
	servertest.Eventually(t, "a refusal by both protocols", func() bool {
		for i, address := range []string{r.address(), r.redisAddress} {
			hold(t, address, 10, busy[i]) // some make room for the next before they are busy
		}
		status, err := ask(t.Context(), r.url)
		if err != nil || status != http.StatusServiceUnavailable {
			return false
		}
		conn := reach(t, r.redisAddress)
		io.WriteString(conn, "PING\r\nINCR ids\r\nQUIT\r\n")
		text, _ := io.ReadAll(conn)
		return string(text) == "+PONG\r\n"+strings.Repeat("-TRYAGAIN too many connections are busy\r\n", 2)
	})
	for _, path := range []string{"/healthz", "/readyz"} {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if status, _ := get(t, client, r.url+path); status != http.StatusOK {
			t.Errorf("%s beside busy connections: %d", path, status)
		}
	}
}

// TestOpenFiles has the system allow fewer open files than limits.connections. The server
// takes as many connections as it can, and says so.
func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	r := &running{cmd: process(t, dir, "--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", slowConfig+"limits: {read: 1h}\n"))}
	r.cmd.Args = append([]string{"sh", "-c", `ulimit -n 200 && exec "$0" "$@"`}, append([]string{r.cmd.Path}, r.cmd.Args[1:]...)...)
	r.cmd.Path = "/bin/sh"
	r.begin(t)
	const most = 200 - 128 - gate.Extras
	warning := fmt.Sprintf("limits.connections is 1000, and the system allows 200 open files: the server takes %d connections", most)
	servertest.Eventually(t, warning, func() bool { return strings.Contains(r.log.String(), warning) })
	for range 300 {
		reach(t, r.address())
	}
	status, metrics := get(t, http.DefaultClient, r.url+"/metrics")
	if want := fmt.Sprintf("\nuidringd_connections %d\n", most); status != http.StatusOK || !strings.Contains(metrics, want) {
		t.Errorf("%d, the metrics lack %q: %s", status, want, metrics)
	}
}

// TestHeaderBytes sends headers of two sizes, by HTTP/1 and HTTP/2. net/http allows 4 KiB
// above the limit.
func TestHeaderBytes(t *testing.T) {
	r := startConfig(t, slowConfig+"limits: {header_bytes: 8192}\n")
	value := strings.Repeat("x", 1000)
	for n, want := range map[int]string{7: "200", 16: "431"} {
		conn := reach(t, r.address())
		if _, err := io.WriteString(conn, "GET /v1/ids HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("X: "+value+"\r\n", n)+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); string(line) != "HTTP/1.1 "+want {
			t.Errorf("a header of %d kB: %s, %v; want %s", n, line, err, want)
		}

		framer := begin(reach(t, r.address()), 1<<16)
		block := header("GET", "/v1/ids", slices.Repeat([]hpack.HeaderField{{Name: "x", Value: value}}, n)...)
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true, EndStream: true})
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for status := ""; status == ""; {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
				if status = headers.PseudoValue("status"); status != want {
					t.Errorf("HTTP/2, a header of %d kB: %s, want %s", n, status, want)
				}
			}
		}
	}
}

// TestStreams has the server tell how many requests a connection of HTTP/2 may have at once, and
// how many bytes it takes that no handler has read. net/http refuses more.
func TestStreams(t *testing.T) {
	r := start(t, t.TempDir())
	framer := begin(reach(t, r.address()), 1<<16)
	frame, err := framer.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[http2.SettingID]uint32{http2.SettingMaxConcurrentStreams: 20, http2.SettingInitialWindowSize: 64 << 10, http2.SettingMaxFrameSize: 16 << 10} {
		if got, ok := frame.(*http2.SettingsFrame).Value(id); got != want || !ok {
			t.Errorf("%v is %d, %v; want %d", id, got, ok, want)
		}
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if more, ok := frame.(*http2.WindowUpdateFrame); ok && more.Increment > 1 {
			t.Errorf("the connection may have %d bytes more", more.Increment)
		}
		if settings, ok := frame.(*http2.SettingsFrame); ok && settings.IsAck() {
			return
		}
	}
}
