package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// No browser may take a page for another type than it has, and no route but those of gRPC takes a
// body.
func TestPages(t *testing.T) {
	h := newHandler(t)
	ask := func(path, body string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, "http://localhost"+path, strings.NewReader(body)), httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/", "/metrics", "/status/", "/status/stats.json", "/healthz", "/readyz"} {
		w := ask(path, "")
		if nosniff := w.Header().Get("X-Content-Type-Options"); w.Code != http.StatusOK || nosniff != "nosniff" && !strings.HasSuffix(path, "z") {
			t.Errorf("%s: %d, nosniff %q", path, w.Code, nosniff)
		}
		if w := ask(path, "x"); w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Connection") != "close" {
			t.Errorf("%s with a body: %d, %v", path, w.Code, w.Header())
		}
	}
}
