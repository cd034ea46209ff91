package uidstatus

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The error names every fault.
func TestNewRefuses(t *testing.T) {
	p, err := New(map[string]uid.Reporter{
		"":        calm(),
		"\xff":    calm(),
		"none":    nil,
		"pointer": (*uid.Cached)(nil),
		"zero":    &uid.Default{},
		"good":    calm(),
	}, Config{Hosts: []string{"ops.example.com", "", "https://ops", "ops:8080", "*.example.com", "10.0.0.1", "::1", "*"}})
	if p != nil || !errors.Is(err, uid.ErrConfig) {
		t.Fatalf("got %v, %v, want an error that matches uid.ErrConfig", p, err)
	}
	want := []string{
		`generators: the name is ""`, `generators: "none" is nil, want`, `"pointer" is nil`, `"zero" was not made`, `the name is "\xff"`,
		`Hosts[1] is "", want`, `Hosts[2] is "https://ops"`, `Hosts[3] is "ops:8080"`, `Hosts[4] is "*.example.com"`,
	}
	need.Error(t, err, bits.ErrLayout, want...)
	if n := strings.Count(err.Error(), "uidstatus: "); n != len(want) {
		t.Errorf("%v\nhas %d faults, want %d", err, n, len(want))
	}
	_, err = New(nil, Config{})
	need.Error(t, err, uid.ErrConfig)
}

// A page elsewhere whose name resolves to this server reads nothing.
func TestHost(t *testing.T) {
	hosts := [][]string{
		{ // always allowed
			"localhost", "localhost:8080", "LocalHost.:8080",
			"127.0.0.1:8080", "[::1]:8080", "[fe80::1%25eth0]:80", "10.1.2.3",
		},
		{ // as an entry of Hosts
			"ops.example.com", "OPS.example.com.:443",
		},
		{ // with "*"
			"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
			"evil-ops.example.com", "xops.example.com", "example.com", "", "*",
		},
	}
	for level, entries := range [][]string{nil, {"Ops.Example.Com"}, {"*"}} {
		p, err := New(map[string]uid.Reporter{"orders": calm()}, Config{Hosts: entries})
		need.Must(t, err)
		ask := func(host, path string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			r.Header.Set("X-Forwarded-Host", "localhost")
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			return w
		}
		for _, path := range []string{"/", "/stats.json", "/page.js"} {
			for _, host := range slices.Concat(hosts[:level+1]...) {
				if w := ask(host, path); w.Code != http.StatusOK {
					t.Errorf("Host %q, Hosts %q, %s: %d", host, entries, path, w.Code)
				}
			}
			for _, host := range slices.Concat(hosts[level+1:]...) {
				if w := ask(host, path); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "orders") {
					t.Errorf("Host %q, Hosts %q, %s: %d %s", host, entries, path, w.Code, w.Body)
				}
			}
		}
	}
}
