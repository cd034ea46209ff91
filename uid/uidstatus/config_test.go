package uidstatus

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// The error names every fault.
func TestNewRefuses(t *testing.T) {
	p, err := New(map[string]Generator{
		"":        calm(),
		"\xff":    calm(),
		"none":    nil,
		"pointer": (*uid.Cached)(nil),
		"zero":    &uid.Default{},
		"good":    calm(),
	}, Config{Hosts: []string{"ops.example.com", "", "https://ops", "ops:8080", "*.example.com", "10.0.0.1", "::1", "*"}})
	if p != nil || !errors.Is(err, ErrConfig) || !errors.Is(err, bits.ErrLayout) {
		t.Fatalf("got %v, %v, want an error that matches ErrConfig and bits.ErrLayout", p, err)
	}
	want := []string{
		`generators: the name is ""`, `generators: "none" is nil, want`, `"pointer" is nil`, `"zero" was not made`, `the name is "\xff"`,
		`Hosts[1] is "", want`, `Hosts[2] is "https://ops"`, `Hosts[3] is "ops:8080"`, `Hosts[4] is "*.example.com"`,
	}
	lines := strings.Split(err.Error(), "\nuidstatus: ")
	for i, want := range want {
		if len(lines) <= i || !strings.Contains(lines[i], want) {
			t.Errorf("%v\nwant it to say %s", err, want)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%v\nhas %d faults, want %d", err, len(lines), len(want))
	}
	if _, err := New(nil, Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("without generators the error is %v, want one that matches ErrConfig", err)
	}
}

// New copies the map.
func TestMapIsNotKept(t *testing.T) {
	generators := map[string]Generator{"orders": calm()}
	p := at(t, generators, nil)
	delete(generators, "orders")
	if w := get(t, p, "/stats.json?name=orders"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A page elsewhere whose name resolves to this server reads nothing.
func TestHost(t *testing.T) {
	for _, tt := range []struct {
		host            string
		unset, set, any bool // allowed without Hosts, with Hosts, with "*"
	}{
		{"localhost", true, true, true},
		{"localhost:8080", true, true, true},
		{"LocalHost.:8080", true, true, true},
		{"127.0.0.1:8080", true, true, true},
		{"[::1]:8080", true, true, true},
		{"[fe80::1%25eth0]:80", true, true, true},
		{"10.1.2.3", true, true, true},
		{"ops.example.com", false, true, true},
		{"OPS.example.com.:443", false, true, true},
		{"evil.example", false, false, true},
		{"evil.example:8080", false, false, true},
		{"localhost.evil.example", false, false, true},
		{"127.0.0.1.evil.example", false, false, true},
		{"evil-ops.example.com", false, false, true},
		{"xops.example.com", false, false, true},
		{"example.com", false, false, true},
		{"", false, false, true},
		{"*", false, false, true},
	} {
		for _, c := range []struct {
			hosts []string
			want  bool
		}{{nil, tt.unset}, {[]string{"Ops.Example.Com"}, tt.set}, {[]string{"*"}, tt.any}} {
			p, err := New(map[string]Generator{"orders": calm()}, Config{Hosts: c.hosts})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/", "/stats.json", "/decode.json?id=1", "/page.js"} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Host = tt.host
				r.Header.Set("X-Forwarded-Host", "localhost")
				w := httptest.NewRecorder()
				p.ServeHTTP(w, r)
				if (w.Code == http.StatusOK) != c.want || w.Code != http.StatusOK && w.Code != http.StatusForbidden {
					t.Errorf("Host %q, Hosts %q, %s: %d", tt.host, c.hosts, path, w.Code)
				}
				if w.Code != http.StatusOK && strings.Contains(w.Body.String(), "orders") {
					t.Errorf("Host %q: the refusal says %s", tt.host, w.Body)
				}
			}
		}
	}
}
