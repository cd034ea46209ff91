package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
)

// Lines are bounded, and say how many requests they leave out.
func TestAccessLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		r := &service.Request{Route: "GET /v1/{name}", Protocol: "HTTP/1.1", Count: 1, Bytes: 19}
		add := func(a *accessLog, n int) {
			for range n {
				r.Began, r.Ended = time.Now().Add(-time.Millisecond), time.Now()
				a.log(r, 200)
			}
		}
		a := newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 2)
		add(a, 50)
		time.Sleep(time.Second / 2)
		add(a, 3)
		time.Sleep(time.Hour)
		add(a, 3)
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		if len(lines) != 5 || !strings.Contains(lines[1], "skipped=0") || !strings.Contains(lines[2], "skipped=48") || !strings.Contains(lines[3], "skipped=2") ||
			!strings.Contains(lines[2], `route="GET /v1/{name}" proto=HTTP/1.1 status=200 bytes=19 took=1ms`) {
			t.Errorf("%s", &text)
		}
		text.Reset()
		failed := *r
		failed.Failed = &service.Error{Kind: service.Unavailable, Cause: errors.New("refused")}
		newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 1).log(&failed, 503)
		if !strings.Contains(text.String(), "status=503 ") || !strings.HasSuffix(text.String(), " cause=refused\n") {
			t.Errorf("%s", &text)
		}
		text.Reset()
		add(newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 0), 10)
		if text.Len() > 0 {
			t.Errorf("%s, want no line", &text)
		}
		a = newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 20)
		for range 10_000 { // a request each millisecond
			add(a, 1)
			time.Sleep(time.Millisecond)
		}
		if n := strings.Count(text.String(), "\n"); n < 215 || n > 220 {
			t.Errorf("%d lines in 10 s, want a burst of 20 and 20 a second", n)
		}
	})
}

// The time of a request is in seconds, in its metric as in the log.
func TestDuration(t *testing.T) {
	inMemory(t, "", func(w *world) {
		w.expect(http.StatusServiceUnavailable, "192.0.2.1", "/v1/rare?n=2000") // after limits.wait
		const of = `{code="503",route="GET /v1/{name}"`
		for _, want := range []string{"_sum" + of + "} 2", "_count" + of + "} 1", "_bucket" + of + `,le="1"} 0`, "_bucket" + of + `,le="2.5"} 1`} {
			w.expect(http.StatusOK, "192.0.2.1", "/metrics", "uidringd_request_duration_seconds"+want+"\n")
		}
		clitest.Wants(t, w.log.String(), "took=2s")
	})
}

// However often the server is asked, the log says once that a generator is not ready.
func TestNotReadyIsLoggedOnce(t *testing.T) {
	inMemory(t, "", func(w *world) {
		need.Must(t, w.set.Close(context.Background()))
		for range 3 {
			time.Sleep(lookPause)
			w.look()
		}
		if log := w.log.String(); strings.Count(log, "not ready") != len(w.set.Names()) {
			t.Errorf("the log is %s", log)
		}
	})
}

// Commands are counted as requests are, and while they are under way alone. A line about a failure
// does not wait for lines about others.
func TestCommandsAreObserved(t *testing.T) {
	inMemory(t, "log: {requests_per_s: 1}\n", func(w *world) {
		conn := w.dial(w.redis, "10.0.0.1")
		go send("INCR ids\r\nINCR ids\r\nINCR ids\r\nGET none\r\nQUIT\r\n")(conn)
		drain(conn)
		const none = `{caller="(none)",code=`
		w.expect(http.StatusOK, "10.0.0.1", "/metrics", none+"\"200\"} 4\n", none+"\"404\"} 1\n", "uidringd_requests_in_flight 1\n")
		clitest.Wants(t, w.log.String(), "status=200", "status=404")
	})
}

// A request that gets too few ids in time is told that max_borrow is the cause, and the log too.
func TestMaxBorrow(t *testing.T) {
	inMemory(t, `  - {name: tight, kind: cached, worker: "static:2", max_borrow: 2s, ids_per_s: -1, layout: "31/23/9"}`+"\n", func(w *world) {
		w.expect(503, "192.0.2.1", "/v1/tight?n=10000", "did not have enough ids within 2s: its ids are max_borrow ahead of the clock")
		clitest.Wants(t, w.log.String(), "limit of borrowed time reached")
	})
}
