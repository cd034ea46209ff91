package serve

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/uidring/uidring/internal/test/need"
)

// waits is a request of an HTTP protocol that the server cannot answer at once.
type waits struct {
	protocol, path, contentType, timeout string // the last one is a header
	http2, framed                        bool
}

var waiting = []waits{
	{"HTTP/1.1", "/v1/rare?n=2000", "", "", false, false},
	{"HTTP/2", "/v1/rare?n=2000", "", "", true, false},
	{"Connect by HTTP/1.1", "/uidring.v1.IdService/Next", "application/json", "Connect-Timeout-Ms", false, false},
	{"Connect", "/uidring.v1.IdService/Runs", "application/json", "Connect-Timeout-Ms", true, false},
	{"gRPC", "/uidring.v1.IdService/Next", "application/grpc+json", "Grpc-Timeout", true, true},
	{"gRPC-Web", "/uidring.v1.IdService/Runs", "application/grpc-web+json", "Grpc-Timeout", true, true},
}

const rareIDs = `{"name":"rare","n":2000}`

// send sends the request, whose message is read from body, until ctx ends. It returns all that the
// server answers.
func (r waits) send(ctx context.Context, w *world, body io.Reader, timeout string) string {
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: func(context.Context, string, string) (net.Conn, error) {
		return w.dial(w.web, "192.0.2.1"), nil
	}}
	defer transport.CloseIdleConnections()
	transport.Protocols.SetHTTP1(!r.http2)
	transport.Protocols.SetUnencryptedHTTP2(r.http2)
	method := http.MethodPost
	if r.contentType == "" {
		method, body = http.MethodGet, nil
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1"+r.path, body)
	need.Must(w.t, err)
	request.Header.Set("Content-Type", r.contentType)
	if r.timeout == "Grpc-Timeout" && timeout != "" {
		timeout += "m"
	}
	if timeout != "" {
		request.Header.Set(r.timeout, timeout)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return fmt.Sprintf("%v %s %v", answer.Header, text, answer.Trailer)
}

// message returns a message in the form of the protocol.
func (r waits) message(text string) io.Reader {
	if r.framed {
		text = "\x00" + string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
	}
	return strings.NewReader(text)
}

// late is a message that arrives after a while.
type late struct {
	io.Reader
	after time.Duration
}

func (l *late) Read(p []byte) (int, error) {
	time.Sleep(l.after)
	l.after = 0
	return l.Reader.Read(p)
}

// counted returns the codes in the metric of requests, except for those of /metrics.
func (w *world) counted() (codes []string) {
	time.Sleep(10 * time.Second) // until each request has ended
	_, text := w.ask("192.0.2.2", http.MethodGet, "/metrics", "")
	for _, found := range regexp.MustCompile(`uidringd_request_duration_seconds_count\{code="(\d+)",route="([^"]*)"\} (\d+)`).FindAllStringSubmatch(text, -1) {
		if found[2] != "GET /metrics" {
			codes = append(codes, found[1]+" x"+found[3])
		}
	}
	return codes
}

// documented returns the cells of a row of the table in docs/server.md that begins with a text.
func documented(t *testing.T, begins string) (code, status string) {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/server.md")
	need.Must(t, err)
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(begins) + `[^|]*\| ([^|]*?) ?\| ([^|]*) \|$`).FindStringSubmatch(string(page))
	if row == nil {
		t.Fatalf("docs/server.md has no row that begins with %q", begins)
	}
	return strings.Trim(row[1], "`"), row[2]
}

// A request that its caller ends counts as the caller's, in every protocol: its code and its status
// are those of the table in docs/server.md, the log has no warning, and the server stays healthy.
func TestCallerEnds(t *testing.T) {
	expired, expiredStatus := documented(t, "sets a deadline that passes")
	_, cancelledStatus := documented(t, "cancels or resets a call")
	for _, r := range waiting {
		for _, end := range []struct {
			name    string
			within  time.Duration // until the client cancels: the server learns of no deadline
			timeout string        // in milliseconds; the server learns of it
			late    bool          // the message arrives after a second
			probe   bool
		}{
			{"cancelled", 100 * time.Millisecond, "", false, false},
			{"reset before its message", 100 * time.Millisecond, "", true, false},
			{"expired", time.Hour, "100", false, false},
			{"expired before", time.Hour, "0", false, false},
			{"expired before its message", time.Hour, "100", true, false},
			{"expired probe", time.Hour, "0", false, true},
		} {
			if end.late && r.contentType == "" || end.timeout != "" && r.timeout == "" {
				continue
			}
			t.Run(r.protocol+"/"+end.name, func(t *testing.T) {
				inMemory(t, "", func(w *world) {
					ctx, cancel := context.WithTimeout(w.t.Context(), end.within)
					defer cancel()
					request, body := r, r.message(rareIDs)
					if end.probe {
						request.path, body = "/grpc.health.v1.Health/Check", r.message("{}")
					}
					if end.late {
						body = &late{body, time.Second}
					}
					started := len(w.log.String())
					answer, status := request.send(ctx, w, body, end.timeout), cancelledStatus
					if end.timeout != "" {
						status = expiredStatus
						if code := fmt.Sprintf(`(?i)"code":"%s"|Grpc-Status: ?\[?%d\b`, expired, connect.CodeDeadlineExceeded); !regexp.MustCompile(code).MatchString(answer) {
							t.Errorf("the answer is %s, want %s", answer, expired)
						}
					}
					if codes := fmt.Sprint(w.counted()); codes != "["+status+" x1]" {
						t.Errorf("the metrics have %s, want %s", codes, status)
					}
					if log := w.log.String()[started:]; !strings.Contains(log, "status="+status+" ") || strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
						t.Errorf("the log is %s", log)
					}
				})
			})
		}
	}
}

// A request that is cut off when the server stops is the server's end, not its caller's. The server
// notices that a Redis client has gone only when it answers: the command waits for limits.wait.
func TestServerEnds(t *testing.T) {
	inMemory(t, "limits: {wait: 30s}\nlog: {requests_per_s: 1000}\nshutdown: {drain: 1s}\n", func(w *world) {
		const many = 20 // of each, since which end comes first is a race
		var sending sync.WaitGroup
		for range many {
			for _, r := range waiting[:2] {
				sending.Go(func() { r.send(context.Background(), w, nil, "") })
			}
		}
		go send("INCRBY rare 2000\r\n")(w.dial(w.redis, "192.0.2.1"))
		synctest.Wait()
		w.stop()
		sending.Wait()
		time.Sleep(10 * time.Second)
		if log := w.log.String(); strings.Contains(log, "status=499") || strings.Count(log, "status=503") != 2*many+1 || !strings.Contains(log, "the server is stopping") {
			t.Errorf("the log is %s", log)
		}
	})
}

func TestRedisCallerEnds(t *testing.T) {
	_, status := documented(t, "leaves a Redis connection")
	inMemory(t, "", func(w *world) {
		conn := w.dial(w.redis, "192.0.2.1")
		go send("INCRBY rare 2000\r\n")(conn)
		synctest.Wait()
		_ = conn.Close()
		if codes := fmt.Sprint(w.counted()); codes != "[503 x1]" || !strings.Contains(status, "503") {
			t.Errorf("the metrics have %s, want %s", codes, status)
		}
	})
}
