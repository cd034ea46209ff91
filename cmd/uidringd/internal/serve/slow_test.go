package serve

import (
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
)

const (
	next = "POST /uidring.v1.IdService/Next HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer a\r\n"
	get  = "GET /v1/ids HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n"
)

// slow are the ways to hold a connection. Each returns when the connection ends, or
// keeps it open without a word.
var slow = map[string]func(net.Conn){
	"nothing sent":                  send(""),
	"half a header":                 send(get),
	"dribbled header":               dribble(get+"X: ", "x"),
	"body never sent":               send(next + "Content-Length: 17\r\n\r\n"),
	"dribbled body":                 dribble(next+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"),
	"body not wanted":               send(get + "Content-Length: 9\r\n\r\n"),
	"idle":                          func(c net.Conn) { go drain(c); send(get + "\r\n")(c) },
	"answer never read":             send(get + "\r\n"),
	"pipelined, answers never read": dribble("", strings.Repeat(get+"\r\n", 100)),
	"h2: half a preface":            send(http2.ClientPreface[:20]),
	"h2: preface alone":             func(c net.Conn) { go drain(c); send(http2.ClientPreface)(c) },
	"h2: no request":                func(c net.Conn) { go drain(c); begin(c, 1<<16) },
	"h2: pings alone": func(c net.Conn) {
		go drain(c)
		for framer := begin(c, 1<<16); framer.WritePing(false, [8]byte{}) == nil; {
			time.Sleep(time.Millisecond) // the limits of control frames are not meant here
		}
	},
	"h2: half a header": func(c net.Conn) {
		go drain(c)
		_ = begin(c, 1<<16).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header("GET", "/v1/ids"), EndStream: true})
	},
	"h2: body never sent": func(c net.Conn) {
		go drain(c)
		streams(begin(c, 1<<16), 100, "POST", "/uidring.v1.IdService/Next", false)
	},
	"h2: reflection held open": func(c net.Conn) {
		go drain(c)
		framer := begin(c, 1<<16)
		streams(framer, 1, "POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", false)
		_ = framer.WriteData(1, false, []byte{0, 0, 0, 0, 2, 0x3a, 0}) // list services
	},
	"h2: no window for answers": unread(100, "GET", "/v1/ids"),
	"h2: nothing read":          func(c net.Conn) { streams(begin(c, 1<<16), 5, "GET", "/v1/ids", true) },
	"Redis: nothing sent":       send(""),
	"Redis: half a command":     send("*2\r\n$4\r\nINCR\r\n"),
	"Redis: dribbled command":   dribble("*2\r\n$4\r\nINCR\r\n$1000\r\n", "x"),
	"Redis: answers never read": dribble("", "AUTH a\r\n"+strings.Repeat("UID.RUNS ids 10000\r\nGET ids\r\n", 100)),
	"Redis: idle":               func(c net.Conn) { go drain(c); send("AUTH a\r\nINCR ids\r\n")(c) },
	"TLS: nothing sent":         send(""),
	"TLS: half a handshake":     send("\x16\x03\x01\x02"),
	"Redis: TLS: nothing sent":  send(""),
}

// secured is the part of a config that wants TLS.
const secured = "tls: {cert: ../config/testdata/cert.pem, key: ../config/testdata/key.pem}\n"

// port returns the listener that slow clients of a kind come to.
func (w *world) port(kind string) *pipes {
	if strings.HasPrefix(kind, "Redis: ") {
		return w.redis
	}
	return w.web
}

// A slow client takes the only connection there is, which both protocols share. The server ends it
// when the limits say so.
func TestSlowClientsEnd(t *testing.T) {
	const limits = "limits: {connections: 1, read: 200ms, write: 200ms, idle: 200ms, wait: 200ms}\n"
	for name, be := range slow {
		t.Run(name, func(t *testing.T) {
			config := limits + tokens
			if strings.Contains(name, "TLS: ") {
				config += secured
			}
			inMemory(t, config, func(w *world) {
				w.hold(w.port(name), "10.0.0.1", 1, be)
				if time.Sleep(3 * time.Second); w.doors.Counts().Open != 0 || w.running.Load() != 0 {
					t.Errorf("after three seconds %+v, and %d requests are under way", w.doors.Counts(), w.running.Load())
				}
			})
		})
	}
}

// The limit read ends half a request, and idle a connection between requests.
func TestReadAndIdle(t *testing.T) {
	for name, limit := range map[string]string{
		"half a header": "read", "Redis: half a command": "read", "Redis: dribbled command": "read",
		"idle": "idle", "Redis: idle": "idle", "Redis: nothing sent": "idle",
	} {
		for _, other := range []string{"read", "idle"} {
			config := strings.Replace(tokens+"limits: {write: 1h, read: 1h, idle: 1h}\n", other+": 1h", other+": 200ms", 1)
			inMemory(t, config, func(w *world) {
				w.hold(w.port(name), "10.0.0.1", 1, slow[name])
				if time.Sleep(time.Second); (w.doors.Counts().Open == 0) != (other == limit) {
					t.Errorf("%s of 200ms, and a connection with %s: %+v", other, name, w.doors.Counts())
				}
			})
		}
	}
}

// Slow clients take no place of those who wait for ids.
func TestSlowClientsDoNotWait(t *testing.T) {
	inMemory(t, tokens+"limits: {waiting: 3, read: 1h, write: 1h}\n", func(w *world) {
		for name, be := range slow {
			w.hold(w.port(name), "10.0.0.1", 2, be)
		}
		w.hold(w.web, "10.0.0.1", 5, unread(3, "GET", "/v1/rare"))
		w.hold(w.web, "10.0.0.1", 5, send(strings.ReplaceAll(get, "/ids", "/rare?n=2000")+"\r\n"))
		time.Sleep(time.Minute)
		first := make(chan string, 1)
		go func() {
			_, text := w.ask("10.0.0.2", http.MethodGet, "/v1/rare?n=2000", "")
			first <- text
		}()
		synctest.Wait()
		w.expect(http.StatusServiceUnavailable, "10.0.0.2", "/v1/rare?n=2000", "1 requests wait for ids")
		clitest.Wants(t, <-first, "did not have enough ids within 2s")
	})
}

// Connections of each protocol fill all places. Those with a part of a request, or without a token,
// make room for others. Busy ones do not: then probes are answered, and all else is refused.
func TestConnections(t *testing.T) {
	for _, config := range []string{"", tokens} {
		inMemory(t, config+"limits: {connections: 20, read: 1h, write: 1h, wait: 1h}\n", func(w *world) {
			for _, name := range []string{"nothing sent", "half a header", "body never sent", "h2: body never sent", "Redis: half a command", "Redis: dribbled command"} {
				be := slow[name]
				w.hold(w.port(name), "10.0.0.1", 25, be)
				if name == "h2: body never sent" || name == "body never sent" {
					continue
				}
				if status, text := w.ask("10.0.0.2", http.MethodGet, "/v1/ids", ""); status != http.StatusOK {
					t.Errorf("beside connections with %s: %d, %s", name, status, text)
				}
			}
			clitest.Wants(t, w.log.String(), `msg="too many connections: `)
			time.Sleep(time.Minute)
			w.hold(w.web, "10.0.0.3", 10, send(strings.ReplaceAll(get, "/ids", "/rare?n=2000")+"\r\n"))
			login := ""
			if config == tokens {
				login = "AUTH a\r\n"
			}
			w.hold(w.redis, "10.0.0.3", 10, func(c net.Conn) { go drain(c); send(login + "INCRBY rare 2000\r\n")(c) })
			w.expect(http.StatusServiceUnavailable, "10.0.0.2", "/v1/ids")
			conn := w.dial(w.redis, "10.0.0.2")
			go send("PING\r\nINCR ids\r\nQUIT\r\n")(conn)
			if text, _ := io.ReadAll(conn); string(text) != "+PONG\r\n"+strings.Repeat("-TRYAGAIN too many connections are busy\r\n", 2) {
				t.Errorf("Redis beside busy connections: %s", text)
			}
			for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
				if status, text := w.ask("10.0.0.2", http.MethodGet, path, ""); status != http.StatusOK || text != want {
					t.Errorf("%s beside busy connections: %d, %q", path, status, text)
				}
			}
			if synctest.Wait(); w.refused.Load() != 0 || w.running.Load() != 20 {
				t.Errorf("%d refusals and %d requests are under way, want 0 and 20", w.refused.Load(), w.running.Load())
			}
		})
	}
}

// An address with its share of limits.requests under way is refused, and another is served. Short
// answers count until they are taken.
func TestShare(t *testing.T) {
	inMemory(t, "limits: {requests: 60, connections: 100, per_address: 50, write: 1h}\n", func(w *world) {
		w.hold(w.web, "10.0.0.1", 2, unread(15, "GET", "/v1/ids"))
		w.expect(http.StatusServiceUnavailable, "10.0.0.1", "/v1/ids", "requests of this address are under way")
		conn := w.dial(w.web, "10.0.0.1")
		go send(get + "\r\n")(conn)
		text, _ := io.ReadAll(conn)
		clitest.Wants(t, string(text), "\r\nConnection: close\r\n")
		w.expect(http.StatusOK, "10.0.0.2", "/v1/ids")
		w.hangUp()
		w.expect(http.StatusOK, "10.0.0.1", "/v1/ids")
	})
}

// An address holds as many ids in answers of gRPC as it may. A further large answer is refused,
// small ones and those of another address are not. The address gets its share back when the answers
// end, also while it keeps a connection.
func TestLargeAnswers(t *testing.T) {
	inMemory(t, "limits: {ids: 1000000, write: 1h}\n", func(w *world) {
		ask := func(from string, n int) int {
			status, _ := w.ask(from, http.MethodPost, "/uidring.v1.IdService/Next", fmt.Sprintf(`{"name": "many", "n": %d}`, n))
			return status
		}
		w.hold(w.web, "10.0.0.1", 1, func(net.Conn) {}) // it sends nothing yet
		for range 2 {
			unread := w.dial(w.web, "10.0.0.1")
			go drain(unread)
			framer := begin(unread, 0)
			streams(framer, 5, "POST", "/uidring.v1.IdService/Next", false)
			for i := range uint32(5) { // 100,000 ids of many
				_ = framer.WriteData(2*i+1, true, append([]byte{0, 0, 0, 0, 10}, "\x0a\x04many\x10\xa0\x8d\x06"...))
			}
			synctest.Wait()
			for _, n := range []int{501, 100_000, 100_000, 100_000, 100_000, 100_000} { // what is refused does not count
				if status := ask("10.0.0.1", n); status != http.StatusServiceUnavailable {
					t.Errorf("a large answer: %d", status)
				}
			}
			if status := ask("10.0.0.1", 500); status != http.StatusOK {
				t.Errorf("a small answer: %d", status)
			}
			for n, want := range map[int]int{500_000: http.StatusOK, 500_001: http.StatusServiceUnavailable, 1_000_001: http.StatusBadRequest} {
				if status := ask("10.0.0.2", n); status != want { // all together, a million
					t.Errorf("%d ids for another address: %d, want %d", n, status, want)
				}
			}
			_ = unread.Close()
			synctest.Wait()
			if status := ask("10.0.0.1", 600_000); status != http.StatusOK { // alone, it may have more than half
				t.Errorf("a large answer at the end: %d", status)
			}
		}
	})
}
