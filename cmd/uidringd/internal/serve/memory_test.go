package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// A connection of HTTP is busy while it has a whole request of a caller who may send it. The
// answers are not taken.
func TestBusyConnections(t *testing.T) {
	const (
		length = "Content-Length: 14\r\n\r\n"
		token  = "Authorization: Bearer a\r\n"
		health = "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	)
	for _, test := range []struct {
		sent string
		busy int
	}{
		{"GET /v1/ids HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{health, 0},
		{strings.Replace(next, token, length, 1) + "{\"name\":\"ids\"}", 0},
		{get, 0},
		{next + length + "{\"name\"", 0},
		{get + "\r\n", 1},
		{next + length + "{\"name\":\"ids\"}", 1},
	} {
		inMemory(t, tokens, func(w *world) {
			if w.hold(w.web, "10.0.0.1", 1, send(test.sent)); w.busy() != test.busy {
				t.Errorf("after %q %d connections are busy, want %d", test.sent, w.busy(), test.busy)
			}
		})
	}
}

// An address has its share of probes. Above the number of all, an address with few has room. One
// probe after the other has room too. Probes that were cut off are not in flight.
func TestProbes(t *testing.T) {
	inMemory(t, "limits: {write: 1h}\n", func(w *world) {
		address, want := 0, int64(0)
		more := func(addresses, connections int, streams uint32, add int64) {
			t.Helper()
			for range addresses {
				address++
				for range connections {
					w.hold(w.web, fmt.Sprintf("10.0.0.%d", address), 1, unread(streams, "GET", "/healthz"))
				}
			}
			if want += int64(addresses) * add; w.probes.Load() != want {
				t.Fatalf("after %d addresses %d probes are under way, want %d", address, w.probes.Load(), want)
			}
		}
		more(16, 5, 16, 64)
		more(1, 1, 16, 4)
		more(63, 1, 4, 4)
		more(1, 1, 1, 0)
		w.expect(http.StatusOK, "10.0.0.1", "/v1/ids")
		w.hangUp()
		if synctest.Wait(); w.probes.Load() != 0 {
			t.Errorf("%d probes are under way at the end", w.probes.Load())
		}
		w.expect(http.StatusOK, "10.0.0.1", "/metrics", "\nuidringd_requests_in_flight 1\n")
		w.dial(w.web, "10.0.0.1") // the server remembers the address
		for range probes.share + 1 {
			w.expect(http.StatusOK, "10.0.0.1", "/healthz") // one probe after the other
		}
	})
}

// The server tells a client of HTTP/2 how many requests it may have at once, and how many bytes it
// takes that no handler has read. net/http refuses more.
func TestStreams(t *testing.T) {
	inMemory(t, "", func(w *world) {
		conn := w.dial(w.web, "10.0.0.1")
		frames := http2.NewFramer(io.Discard, conn)
		go begin(conn, 1<<16)
		frame, err := frames.ReadFrame()
		need.Must(t, err)
		for id, want := range map[http2.SettingID]uint32{http2.SettingMaxConcurrentStreams: 20, http2.SettingInitialWindowSize: 64 << 10, http2.SettingMaxFrameSize: 16 << 10} {
			if got, ok := frame.(*http2.SettingsFrame).Value(id); got != want || !ok {
				t.Errorf("%v is %d, %v; want %d", id, got, ok, want)
			}
		}
		for {
			frame, err := frames.ReadFrame()
			need.Must(t, err)
			if more, ok := frame.(*http2.WindowUpdateFrame); ok && more.Increment > 1 {
				t.Errorf("the connection may have %d bytes more", more.Increment)
			}
			if settings, ok := frame.(*http2.SettingsFrame); ok && settings.IsAck() {
				return
			}
		}
	})
}

// Headers have a greatest size. net/http allows 4 KiB above the limit.
func TestHeaderBytes(t *testing.T) {
	inMemory(t, "limits: {header_bytes: 8192}\n", func(w *world) {
		for n, want := range map[int]string{7: "200", 16: "431"} {
			conn := w.dial(w.web, "10.0.0.1")
			go send(get + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", n) + "\r\n")(conn)
			if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 "+want) {
				t.Errorf("a header of %d kB: %s, %v; want %s", n, line, err, want)
			}
		}
	})
}

// A server that stops is not ready at once, and takes connections until the delay is over. Then
// idle connections end, and what is under way has the time to drain. What is left is cut off, and the
// server still ends without an error.
func TestStop(t *testing.T) {
	const (
		shutdown = "shutdown: {delay: 3s, drain: 10s}\n"
		patient  = "limits: {wait: 1m, write: 2m, read: 2m}\n" + shutdown
	)
	wait := strings.ReplaceAll(get, "/ids", "/rare?n=2000") + "\r\n"
	for name, test := range map[string]struct {
		config string
		be     func(net.Conn)
		took   time.Duration
		cut    string
	}{
		"nothing":          {shutdown, nil, 3 * time.Second, ""},
		"idle":             {patient, slow["idle"], 3 * time.Second, ""},
		"Redis: idle":      {patient, slow["Redis: idle"], 3 * time.Second, ""},
		"a request":        {"limits: {wait: 5s}\n" + shutdown, func(c net.Conn) { go drain(c); send(wait)(c) }, 5 * time.Second, ""},
		"Redis: a command": {"limits: {wait: 5s}\n" + shutdown, func(c net.Conn) { go drain(c); send("INCRBY rare 2000\r\n")(c) }, 5 * time.Second, ""},
		"half a body":      {patient, slow["body never sent"], 13 * time.Second, "requests were cut off"},
		"a long request":   {patient, send(wait), 13 * time.Second, "requests were cut off"},
		"Redis: half":      {patient, slow["Redis: half a command"], 13 * time.Second, "commands were cut off"},
		"Redis: no rest":   {"limits: {read: 5s}\n" + shutdown, slow["Redis: half a command"], 5 * time.Second, ""},
		"Redis: no end":    {patient, send("INCRBY rare 2000\r\n"), 13 * time.Second, "commands were cut off"},
		"h2: a watch": {patient, func(c net.Conn) {
			go drain(c)
			framer := begin(c, 1<<16)
			streams(framer, 1, "POST", "/grpc.health.v1.Health/Watch", false)
			_ = framer.WriteData(1, true, make([]byte, 5))
		}, 4 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, test.config, func(w *world) {
				if test.be != nil {
					w.hold(w.port(name), "10.0.0.1", 3, test.be)
				}
				began := time.Now()
				w.stop()
				synctest.Wait()
				w.expect(http.StatusServiceUnavailable, "10.0.0.2", "/readyz")
				w.expect(http.StatusOK, "10.0.0.2", "/v1/ids")
				_, health := w.ask("10.0.0.2", http.MethodPost, "/grpc.health.v1.Health/Check", `{"service": "ids"}`)
				clitest.Wants(t, health, "NOT_SERVING")
				ping := w.dial(w.redis, "10.0.0.2")
				go send("PING\r\nQUIT\r\n")(ping)
				if text, _ := io.ReadAll(ping); string(text) != "-LOADING the server is stopping\r\n+OK\r\n" {
					t.Errorf("PING says %q", text)
				}
				err := <-w.ended
				w.ended <- err
				if n := w.doors.Counts().Open; n > 0 {
					t.Errorf("%d connections are open at the end", n)
				}
				if took := time.Since(began).Round(time.Second); err != nil || took != test.took {
					t.Errorf("%v after %v, want the end after %v", err, took, test.took)
				}
				if log := w.log.String(); strings.Contains(log, "cut off") != (test.cut != "") || !strings.Contains(log, test.cut) || strings.Count(log, "msg=stopping") != 1 {
					t.Errorf("the log is %s", log)
				}
				if status, _ := w.ask("10.0.0.2", http.MethodGet, "/v1/ids", ""); status != 0 {
					t.Errorf("a request after the end: %d", status)
				}
			})
		})
	}
}
