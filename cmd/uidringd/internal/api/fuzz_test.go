package api_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// FuzzRoutes has the server's own parser read requests of any bytes. Whatever they
// are, an answer is an id, what a route promises, or a problem; and only a GET or a
// POST draws.
func FuzzRoutes(f *testing.F) {
	for _, target := range []string{
		"GET /v1/orders", "GET /v1/orders?n=3&format=json", "HEAD /v1/orders", "POST /v1/orders/runs?n=7", "GET /v1/cached/parse/117093590311632896",
		"GET /api/segment/get/orders", "GET /api/snowflake/get/cached", "GET /decodeSnowflakeId?snowflakeId=1", "GET /openapi.yaml", "PUT /v1/orders",
		"GET /v1//orders", "GET //", "GET /v1/%2e%2e/x", "GET /v1/a%2fb?n=%zz", "OPTIONS *", "CONNECT x:1", "GET http://x/v1/orders?n=;", "GET /v1/hangs", "GET /v1/\xff",
	} {
		f.Add([]byte(target + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\n\r\n"))
		f.Add([]byte(target + " HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Length: 2\r\n\r\nab"))
	}
	all := newCatalog(f)
	h := newHandler(f, all, service.Config{Limits: service.Limits{Wait: time.Microsecond}, Tokens: []service.Token{{Name: "t", Hash: sha256.Sum256([]byte("token"))}}})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(r.Body)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		check(t, r, w)
	})
}

func check(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	contentType, body := w.Header().Get("Content-Type"), w.Body.String()
	switch {
	case w.Code >= 400:
		p := clitest.Decode[problem](t, body)
		if p.Status != w.Code || p.Detail == "" || contentType != "application/problem+json" || w.Code >= 500 && w.Code != 503 {
			t.Fatalf("%s %s answers %d %s %s", r.Method, r.RequestURI, w.Code, contentType, body)
		}
	case w.Code != http.StatusOK:
		t.Fatalf("%s %s answers %d", r.Method, r.RequestURI, w.Code)
	case strings.HasPrefix(contentType, "text/plain") && r.Method != http.MethodHead:
		for line := range strings.Lines(body) {
			if id, err := uid.ParseID(strings.TrimSuffix(line, "\n")); err != nil || id == 0 {
				t.Fatalf("%s %s answers %q: %v", r.Method, r.RequestURI, body, err)
			}
		}
	case r.Method != http.MethodGet && r.Method != http.MethodPost && body != "":
		t.Fatalf("%s %s answers %s", r.Method, r.RequestURI, body)
	}
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %s may be cached", r.Method, r.RequestURI)
	}
}
