package serve

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// Lines are bounded, say how many requests they leave out, and have neither path nor
// query.
func TestAccessLog(t *testing.T) {
	var text strings.Builder
	a := newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 1)
	request := httptest.NewRequest(http.MethodGet, "/v1/secret-1?n=5&token=secret-1", nil)
	request.Pattern = "GET /v1/{name}"
	add := func(n int) {
		for range n {
			a.add(request, 200, 19, time.Millisecond)
		}
	}
	a.limit = rate.NewLimiter(0, 2)
	add(50)
	a.limit = rate.NewLimiter(0, 1)
	add(3)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], "skipped=0") || !strings.Contains(lines[2], "skipped=48") ||
		!strings.Contains(lines[2], `route="GET /v1/{name}" proto=HTTP/1.1 status=200 bytes=19 took=1ms`) || strings.Contains(text.String(), "secret-1") {
		t.Errorf("%s", &text)
	}
	text.Reset()
	a = newAccessLog(slog.New(slog.NewTextHandler(&text, nil)), 0)
	add(10)
	if text.Len() > 0 {
		t.Errorf("%s, want no line", &text)
	}
}
