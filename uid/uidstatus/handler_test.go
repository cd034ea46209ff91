package uidstatus

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

func TestPaths(t *testing.T) {
	h := at(t, map[string]uid.Reporter{"orders": calm(), "users": calm()}, nil)
	for _, tt := range []struct {
		target, kind string
		status       int
		has          string
	}{
		{"/", "text/html; charset=utf-8", 200, `<a href="?name=users">users</a>`},
		{"/?name=users", "text/html; charset=utf-8", 200, `<section aria-labelledby="name" data-generator="users"`},
		{"/?name=users&id=1", "text/html; charset=utf-8", 200, `2026-01-01 00:00:00 UTC, 59 days ago`},
		{"/?name=users&id=x", "text/html; charset=utf-8", 200, `not an id: &#34;x&#34;`},
		{"/?id=1", "text/html; charset=utf-8", 200, `<tr data-generator="orders"`},
		{"/?name=nobody", "text/plain; charset=utf-8", 404, `no generator has the name "nobody"`},
		{"/?name=", "text/plain; charset=utf-8", 404, `no generator has the name ""`},
		{"/?name=x" + strings.Repeat("ä", 500), "text/plain; charset=utf-8", 404, `the name "x` + strings.Repeat("ä", 31) + `…"`},
		{"/stats.json", "application/json", 200, `"name":"users"`},
		{"/stats.json?name=users", "application/json", 200, `"generators":[{"name":"users"`},
		{"/stats.json?name=nobody", "text/plain; charset=utf-8", 404, `the name "nobody"`},
		{"/page.css", "text/css; charset=utf-8", 200, "prefers-color-scheme"},
		{"/page.js", "text/javascript; charset=utf-8", 200, "location.href"},
		{"/icon.svg", "image/svg+xml", 200, "<svg"},
		{"/page.html", "text/plain; charset=utf-8", 404, "there is no page"},
		{"/../handler.go", "text/plain; charset=utf-8", 404, "there is no page"},
	} {
		t.Run(short(tt.target), func(t *testing.T) {
			w := get(t, h, tt.target)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.kind || !strings.Contains(w.Body.String(), tt.has) {
				t.Errorf("%d, %s, %s\nwant %d, %s and %q", w.Code, w.Header().Get("Content-Type"), w.Body, tt.status, tt.kind, tt.has)
			}
			if len(w.Body.String()) > 30_000 {
				t.Errorf("the answer has %d bytes", w.Body.Len())
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
					"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
				"X-Content-Type-Options":       "nosniff",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if got := w.Header().Get("Cache-Control"); w.Code == 200 && got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	h := at(t, map[string]uid.Reporter{"orders": calm()}, nil)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
		for _, path := range []string{"/", "/stats.json", "/page.js", "/nothing"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader("id=1")))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for _, path := range []string{"/", "/stats.json", "/page.css"} {
		r, err := server.Client().Head(server.URL + path)
		need.Must(t, err)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK || r.ContentLength < 100 {
			t.Errorf("HEAD %s: %d with a length of %d", path, r.StatusCode, r.ContentLength)
		}
	}
}

func TestMounted(t *testing.T) {
	h := at(t, map[string]uid.Reporter{"orders": calm()}, nil)
	subtree := func(pattern string, h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(pattern, h)
		return mux
	}
	for _, tt := range []struct {
		name     string
		h        http.Handler
		target   string
		status   int
		location string
	}{
		{"by a pattern", subtree("/debug/uid/", h), "/debug/uid/", 200, ""},
		{"by a pattern, below", subtree("/debug/uid/", h), "/debug/uid/stats.json", 200, ""},
		{"by a pattern with method and host", subtree("GET localhost/uid/", h), "http://localhost/uid/stats.json", 200, ""},
		{"stripped", subtree("/debug/uid/", http.StripPrefix("/debug/uid", h)), "/debug/uid/stats.json", 200, ""},
		{"stripped with its slash", subtree("/debug/uid/", http.StripPrefix("/debug/uid/", h)), "/debug/uid/stats.json", 200, ""},
		{"stripped with its slash, page", http.StripPrefix("/debug/uid/", h), "/debug/uid/", 200, ""},
		{"stripped of wildcards", subtree("/{team}/uid/{rest...}", http.StripPrefix("/a/uid", h)), "/a/uid/stats.json", 200, ""},
		{"stripped, no slash", http.StripPrefix("/debug/uid", h), "/debug/uid?id=1", 307, "./uid/"},
		{"stripped, no slash, like a scheme", http.StripPrefix("/javascript:x", h), "/javascript:x", 307, "./javascript:x/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := get(t, tt.h, tt.target)
			location := w.Header().Get("Location")
			if w.Code != tt.status || location != tt.location {
				t.Errorf("%d to %q, want %d to %q", w.Code, location, tt.status, tt.location)
			}
		})
	}
}

// Names and ids are shown as text, wherever they stand.
func TestEscaped(t *testing.T) {
	nasty := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onfocus='alert(1)`, `javascript:alert(1)`,
		"a b\tc\nd", "</title></style>", "\x00\u202e", `{{.Name}}`, "a", "a/name", "a/b?c#d%20&amp;",
	}
	generators := map[string]uid.Reporter{}
	for _, name := range nasty {
		generators[name] = calm()
	}
	h := at(t, generators, nil)
	for _, text := range nasty {
		query := url.Values{"name": {text}, "id": {text}}.Encode()
		w := get(t, h, "/?"+query)
		body := w.Body.String() + get(t, h, "/").Body.String()
		if w.Code != 200 || strings.Count(body, "<section") != 1 || strings.Count(body, "<tr data") != len(nasty) {
			t.Fatalf("%q: %d\n%s", text, w.Code, body)
		}
		for _, bad := range []string{"<script>", "<img", "'alert", `href="javascript`, "</style>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%q: the page has %s", text, bad)
			}
		}
		if n := strings.Count(body, "<script "); n != 2 {
			t.Errorf("%q: the page has %d scripts", text, n)
		}
		if w := get(t, h, "/stats.json?"+query); !json.Valid(w.Body.Bytes()) || strings.ContainsAny(w.Body.String(), "<>") {
			t.Errorf("%s: %s", query, w.Body)
		}
	}
	for _, inline := range []string{" style=", "<style", " onclick", "http://", "https://"} {
		if body := get(t, h, "/?name=a").Body.String(); strings.Contains(body, inline) {
			t.Errorf("the page has %s, which its policy refuses", inline)
		}
	}
}

// A real generator, drawn from, asked and closed at the same time.
func TestConcurrent(t *testing.T) {
	gen, err := uid.NewCached(t.Context(), lease.NewStatic(1), uid.CachedConfig{})
	need.Must(t, err)
	h := at(t, map[string]uid.Reporter{"orders": gen}, nil)
	var group sync.WaitGroup
	for _, path := range []string{"/", "/stats.json", "/?name=orders&id=1"} {
		group.Go(func() {
			for range 50 {
				if w := get(t, h, path); w.Code != 200 {
					t.Errorf("%s: %d", path, w.Code)
				}
			}
		})
	}
	group.Go(func() {
		for range 2000 {
			_, _ = gen.Next()
		}
		_ = gen.Close()
	})
	group.Wait()
	if w := get(t, h, "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "The generator is closed.") {
		t.Errorf("after Close: %d", w.Code)
	}
}
