package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each change of a config is named, and whether it needs a restart. A change of a URL that
// stands elsewhere is one too, and no part of it is shown.
func TestChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	base := `
hosts: [a.example]
stores: [{name: db, file: ` + file + `}]
generators:
  - {name: ids, kind: cached, store: db}
  - {name: orders, kind: segment, store: db}
  - {name: rest, kind: tags, store: db}
tokens:
  - {name: a, sha256: ` + strings.Repeat("a", 64) + `, generators: [ids]}
  - {name: b, sha256: ` + strings.Repeat("b", 64) + `, generators: [ids]}
`
	parse := func(url, text string) *Config {
		t.Helper()
		if err := os.WriteFile(file, []byte(url), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Parse([]byte(text), Flags{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, tt := range []struct{ old, new, live, restart string }{
		{"", "", "", ""},
		{"hosts: [a.example]", "hosts: [b.example]", "hosts", ""},
		{"name: b, sha256: bb", "name: b, sha256: cb", "tokens.b", ""},
		{"  - {name: b, sha256", "  - {name: c, sha256", "tokens.b tokens.c", ""},
		{"generators: [ids]}\n", "operations: true}\n", "tokens.a tokens.b", ""},
		{"hosts:", "limits: {ids: 5, requests_per_s: 1, burst: 2, waiting: 3, requests: 4, connections: 6, per_address: 7, wait: 1s}\nhosts:",
			"limits.burst limits.connections limits.ids limits.per_address limits.requests limits.requests_per_s limits.wait limits.waiting", ""},
		{"hosts:", "limits: {streams: 1, header_bytes: 2048, read: 1s, write: 2s, idle: 1s}\nhosts:", "", "limits.header_bytes limits.idle limits.read limits.streams limits.write"},
		{"hosts:", "shutdown: {delay: 1s}\nlog: {format: json, requests_per_s: 1}\nhosts:", "log.requests_per_s shutdown.delay", "log.format"},
		{"hosts:", "tls: {cert: testdata/cert.pem, key: testdata/key.pem}\nhosts:", "", "tls.cert tls.key"},
		{"hosts:", "listen: 127.0.0.1:1\nhosts:", "", "listen"},
		{"name: ids, kind: cached", "name: ids, kind: default", "", "generators.ids"},
		{"name: rest, ", "name: other, ", "", "generators.orders generators.other generators.rest"},
		{"secret-1.db", "secret-2.db", "", "stores.db"},
	} {
		running := parse("secret-1.db", base)
		wanted := parse(strings.Replace("secret-1.db", tt.old, tt.new, 1), strings.ReplaceAll(base, tt.old, tt.new))
		live, restart := Changes(running, wanted)
		if !slices.Equal(live, strings.Fields(tt.live)) || !slices.Equal(restart, strings.Fields(tt.restart)) {
			t.Errorf("%q for %q: %q, %q; want %q, %q", tt.new, tt.old, live, restart, tt.live, tt.restart)
		}
	}
}

// An empty list is none.
func TestNoChange(t *testing.T) {
	for _, list := range []string{"", "hosts: []", "tokens: []"} {
		running, err1 := Parse([]byte("generators: [{name: ids, kind: cached, worker: \"static:1\"}]"), Flags{})
		wanted, err2 := Parse([]byte("generators: [{name: ids, kind: cached, worker: \"static:1\"}]\n"+list), Flags{})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if live, restart := Changes(running, wanted); len(live)+len(restart) > 0 {
			t.Errorf("%s: %q, %q", list, live, restart)
		}
	}
}

// Every key that takes effect while the server runs is one.
func TestLiveKeys(t *testing.T) {
	c, err := Demo(Flags{})
	if err != nil {
		t.Fatal(err)
	}
	c.Hosts, c.Tokens = []string{"a"}, []Token{{Name: "a"}}
	for _, key := range live {
		found := false
		for known := range c.keys() {
			found = found || known == key || strings.HasPrefix(known, key+".")
		}
		if !found {
			t.Errorf("there is no key %s", key)
		}
	}
}
