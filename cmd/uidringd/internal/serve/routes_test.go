package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// newHandler returns the handler of a server with a cached generator, more of a config and its log.
func newHandler(t *testing.T, more string, log io.Writer) http.Handler {
	t.Helper()
	c, err := config.Parse([]byte(`generators: [{name: ids, kind: cached, layout: 31/1/31, ids_per_s: -1, worker: "static:1"}]`+"\n"+more), config.Flags{})
	need.Must(t, err)
	logger := newLogger(c, log)
	set, err := generators.Open(t.Context(), c, logger)
	need.Must(t, err)
	t.Cleanup(func() { _ = set.Close(context.Background()) })
	handler, err := newServer(c, set, nil, logger).handler()
	need.Must(t, err)
	return handler
}

// Each answer forbids caches, and guesses of its type. No route but those of gRPC takes a
// body, and what reads draws no id. The pages are for the config's host names. The log is JSON if
// the config says so.
func TestRoutes(t *testing.T) {
	var log logged.Text
	h := newHandler(t, "hosts: [ops.example.com]\nlog: {format: json, requests_per_s: 1000}\n", &log)
	requests := 0 // that have a line
	ask := func(want int, host, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		if monitors := path == "/healthz" || path == "/readyz" || path == "/metrics"; !monitors || want >= 400 {
			requests++
		}
		r, w := httptest.NewRequest(http.MethodGet, "http://"+host+path, strings.NewReader(body)), httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s of %s: %d, want %d; %v", path, host, w.Code, want, w.Header())
		}
		return w
	}
	for path, want := range map[string]int{
		"/": 200, "/metrics": 200, "/status/": 200, "/status/stats.json": 200, "/healthz": 200, "/readyz": 200, "/openapi.yaml": 200,
		"/v1/ids/parse/7": 200, "/v1/nosuch": 404, "/nowhere": 404, "/v1//ids": 404, "/v1/ids/runs": 405, "/uidring.v1.IdService/Next": 405,
	} {
		w := ask(want, "localhost", path, "")
		if text := want >= 400 && path[1] != 'u' || strings.HasSuffix(path, "z") || path == "/" || path == "/metrics" || strings.HasPrefix(path, "/status/"); text && w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s without nosniff: %v", path, w.Header())
		}
		if want != 200 {
			continue
		}
		if w := ask(413, "localhost", path, "x"); w.Header().Get("Connection") != "close" {
			t.Errorf("%s with a body: %v", path, w.Header())
		}
	}
	clitest.Wants(t, ask(200, "localhost", "/", "").Body.String(), "At most 10,000 a request.")
	for host, want := range map[string]int{"OPS.example.com:80": 200, "localhost.:80": 200, "[::1]:80": 200, "evil.example.com": 403} {
		for _, path := range []string{"/", "/metrics", "/status/"} {
			ask(want, host, path, "")
		}
	}
	clitest.Wants(t, ask(200, "localhost", "/metrics", "").Body.String(), "\nuidring_ids_issued_total{generator=\"ids\"} 0\n")
	for line := range strings.Lines(log.String()) {
		var entry struct {
			Msg, Route string
			Status     int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "" {
			t.Errorf("%s: %v, want JSON", line, err)
		}
		if entry.Msg == "request" && entry.Route != "" && entry.Status >= 200 {
			requests--
		}
	}
	if requests != 0 {
		t.Errorf("%d lines are missing: %s", requests, &log)
	}
	h = newHandler(t, secured, &log) // TLS alone authenticates no caller
	for _, path := range []string{"/", "/metrics", "/status/"} {
		ask(403, "evil.example.com", path, "")
	}
}
