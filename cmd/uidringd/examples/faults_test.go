package examples

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// recorder is a server that counts requests.
type recorder struct {
	http.Handler
	requests atomic.Int64
	last     atomic.Value // query
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.last.Store(r.URL.RawQuery)
	s.Handler.ServeHTTP(w, r)
}

// body answers with a text, whatever is asked for.
func body(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

// status answers with a status so often, and then with ids.
func status(code int, retry string, times int64) http.Handler {
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > times {
			numbers.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", retry)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "<html>the reason</html>")
	})
}

// raw answers with bytes on the connection, and ends it.
func raw(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	})
}

// hang writes a text at first and then every 100 ms, until the client is gone.
func hang(first, then string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for text := first; ; text = then {
			if text != "" {
				_, _ = io.WriteString(w, text)
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
}

// numbers answers with 1, 2, 3 and so on.
var numbers = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil || n < 1 || r.URL.Path != "/v1/"+name {
		http.Error(w, r.URL.String(), http.StatusNotFound)
		return
	}
	for i := range n {
		fmt.Fprintln(w, i+1)
	}
})

// fault is a server that misbehaves when it is asked for an id.
type fault struct {
	handler  http.Handler
	want     string // pattern in the error; empty if an id is printed
	requests int64  // 0 is not compared
}

// faults redirect to another server's URL.
func faults(other string) map[string]fault {
	other += "/v1/order%20ids?n=1"
	return map[string]fault{
		"redirect":             {http.RedirectHandler(other, http.StatusFound), "status 302", 1},
		"redirect with 307":    {http.RedirectHandler(other, http.StatusTemporaryRedirect), "status 307", 1},
		"truncated":            {raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n12345"), ".", 0},
		"truncated after all":  {raw("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n12345\n"), ".", 0},
		"truncated, no length": {raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12345"), "not 1 ids: .*12345", 0},
		"no answer":            {raw(""), ".", 0},
		"too few":              {body(""), "not 1 ids", 1},
		"too many":             {body("1\n2\n"), "not 1 ids", 1},
		"a page":               {body("<html>sign in</html>\n"), "not 1 ids: .*<html>sign in", 1},
		"zero":                 {body("0\n"), "not 1 ids", 1},
		"signed":               {body("+5\n"), "not 1 ids", 1},
		"carriage return":      {body("5\r\n"), "not 1 ids", 1},
		"underscore":           {body("1_0\n"), "not 1 ids", 1},
		"other digits":         {body("\u0665\n"), "not 1 ids", 1},
		"2^63":                 {body("9223372036854775808\n"), "not 1 ids", 1},
		"the greatest":         {body("9223372036854775807\n"), "", 1},
		"endless":              {body(strings.Repeat("1\n", 1<<20)), "more than 4116 bytes", 1},
		"400":                  {status(400, "", 9), "status 400: .*the reason", 1},
		"502":                  {status(502, "", 9), "status 502: .*the reason", 1},
		"204":                  {status(204, "", 9), "status 204", 1},
		"429 once":             {status(429, "1", 1), "", 2},
		"503 once":             {status(503, "0", 1), "", 2},
		"503 for now":          {status(503, "soon", 9), "status 503: .*the reason", 3},
		"429 for long":         {status(429, "3600", 1), "status 429: .*the reason", 1},
		"hung":                 {hang("", ""), "(?i)time", 0},
		"hung in the answer":   {hang("12", ""), "(?i)time", 0},
		"one byte at a time":   {hang("1", "1"), "(?i)time", 0},
	}
}

// Each client refuses an invalid answer, says what was wrong with it, and never sends its token to
// another server.
func TestFaults(t *testing.T) {
	elsewhere := &recorder{Handler: numbers}
	other := httptest.NewServer(elsewhere)
	t.Cleanup(other.Close)
	for language, client := range clients(t) {
		t.Run(language, func(t *testing.T) {
			run := func(t *testing.T, url, token, n string) (string, string, error) {
				t.Helper()
				return client.run(t, url, token, name, n)
			}
			t.Run("answer", func(t *testing.T) {
				for title, f := range faults(other.URL) {
					t.Run(title, func(t *testing.T) {
						t.Parallel()
						server := &recorder{Handler: f.handler}
						listening := httptest.NewServer(server)
						defer listening.Close()
						out, stderr, err := run(t, listening.URL, token, "1")
						switch {
						case f.want == "" && (err != nil || strings.Count(out, "\n") != 1):
							t.Errorf("it prints %q, and fails with %q", out, stderr)
						case f.want != "" && (err == nil || out != ""):
							t.Errorf("it prints %q, want a failure", out)
						case f.want != "" && !(regexp.MustCompile(f.want).MatchString(stderr) && strings.Contains(stderr, listening.URL)):
							t.Errorf("the error is %q, want %q and the URL in it", stderr, f.want)
						}
						if n := server.requests.Load(); f.requests > 0 && n != f.requests {
							t.Errorf("%d requests, want %d", n, f.requests)
						}
					})
				}
			})
			if n := elsewhere.requests.Load(); n > 0 {
				t.Errorf("%d requests were redirected", n)
			}

			server := &recorder{Handler: numbers}
			listening := httptest.NewServer(server)
			defer listening.Close()
			if out, stderr, err := run(t, listening.URL+"/", token, "1"); out != "1\n" || err != nil {
				t.Errorf("with a slash at the end of the URL it prints %q, %s", out, stderr)
			}
			if n, last := server.requests.Load(), server.last.Load(); n != 1 || last != "n=1" {
				t.Errorf("for one id there are %d requests, the last for %s", n, last)
			}
			if out, stderr, err := run(t, listening.URL, "", "2"); out != "1\n1\n" || err != nil {
				t.Errorf("without a token it prints %q, %s", out, stderr)
			}
			closed := httptest.NewServer(numbers)
			secure := httptest.NewUnstartedServer(numbers)
			secure.Config.ErrorLog = log.New(io.Discard, "", 0)
			secure.StartTLS()
			defer secure.Close()
			closed.Close() // after secure has a port, which would otherwise be the same now and then
			for _, c := range []struct{ url, token, n, want string }{
				{secure.URL, token, "1", "(?i)certif"},
				{closed.URL, token, "1", closed.URL + "/v1/.*(?i)refused"},
				{"http://ids.example.com", token, "1", "want https"},
				{"http://localhost.example.com", token, "1", "want https"},
				{listening.URL, token + "\n", "1", "the token is not shown"},
				{listening.URL, token, "0", "usage: .* URL NAME N"},
				{listening.URL, token, "-1", "usage: "},
				{listening.URL, token, "many", "usage: "},
			} {
				out, stderr, err := run(t, c.url, c.token, c.n)
				if err == nil || out != "" || strings.Count(stderr, "\n") != 1 || !regexp.MustCompile(c.want).MatchString(stderr) {
					t.Errorf("%+v: it prints %q and %q, want a line with %q", c, out, stderr, c.want)
				}
			}
		})
	}
}
