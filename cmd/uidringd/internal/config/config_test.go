package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
	"github.com/uidring/uidring/uid/uidclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All keys and types that are wrong are reported at once, by line, and then all values. None
// shows a secret.
func TestFaults(t *testing.T) {
	for _, name := range []string{"testdata/unreadable", "testdata/faulty"} {
		c, err := config.Read(name+".yaml", config.Flags{})
		var faults config.Faults
		if c != nil || !errors.As(err, &faults) {
			t.Fatalf("%v, %v; want faults", c, err)
		}
		statstest.Golden(t, name+".txt", []byte(err.Error()+"\n"))
		if strings.Contains(err.Error(), "secret-") {
			t.Error("a secret is shown")
		}
	}
}

// faultOf returns what is wrong with a config; "" if nothing is.
func faultOf(text string, flags config.Flags) string {
	if _, err := config.Parse([]byte(text), flags); err != nil {
		return err.Error()
	}
	return ""
}

// A store's ids have one layout, and a fixed number is refused if a lease beside it may take
// that number first.
func TestOneStore(t *testing.T) {
	const sites = ", layout: 41/region:3+process:7/12"
	const taken = ", which b may take first from db: exclude it there, or use another store"
	for _, tt := range []struct{ a, b, want string }{
		{`worker: "static:9", store: db`, "store: db", "[0].worker: is static:9" + taken},
		{`worker: "static:9", store: db`, "store: db, numbers: 0-9", "[0].worker: is static:9" + taken},
		{`worker: "static:9", store: db`, "store: db, numbers: 9-20", "[0].worker: is static:9" + taken},
		{`worker: "static:9", store: db`, "store: db, numbers: 0-8", ""},
		{`worker: "static:9", store: db`, "store: db, numbers: 10-20", ""},
		{`worker: "static:9", store: db`, "store: db, worker: registry", ""},
		{`worker: "static:9", store: other`, "store: db", ""},
		{`worker: "static:9"`, "store: db", ""},
		{"worker: statefulset, store: db", "store: db", "[0].worker: is statefulset" + taken},
		{"worker: statefulset, store: db", "store: db, numbers: 100-200", ""},
		{`worker: "static:384", store: db` + sites, "store: db, numbers: region=3" + sites, "[0].worker: is static:384" + taken},
		{`worker: "static:383", store: db` + sites, "store: db, numbers: region=3" + sites, ""},
		{"store: db", "store: db, numbers: region=3", "[1].numbers: is region=3, and the layout names no parts of the worker number: want a layout that does"},
		{"store: db" + sites, "store: db, numbers: region=8" + sites, "[1].numbers: out of range: region is 8, want 0 to 7"},
		{"store: db, layout: snowflake", "store: db, layout: fleet", "[1].layout: is "},
		{"store: db, layout: 41/datacenter:5+machine:5/12", "store: db, layout: 41/10/12", ""},
		{"store: db, layout: snowflake", "store: other, layout: fleet", ""},
		{"store: db", "store: db", ""},
		{"store: db, layout: fleet, numbers: 0-70000", "store: db, layout: fleet", "[0].numbers: is 0-70000, want numbers from 0 to 65535"},
		{"store: db, layout: snowflake", "store: db", "[1].layout: is not set, and that of another generator of db is 41/10/12"},
		{"store: db", "store: db, layout: fleet", "[1].layout: is 31/16/16,epoch=2026-01-01,unit=1s, and that of another generator of db is not set"},
		{"store: db, layout: snowflake", "store: db, layout: fleet, worker: registry", "[1].layout: is "},
		{"store: db, layout: snowflake, worker: registry", "store: db, layout: fleet, worker: registry", "[1].layout: is "},
		{"store: db, layout: snowflake", `store: db, layout: fleet, worker: "static:9"`, "[1].layout: is "},
	} {
		fault := faultOf("stores: [{name: db, url: x.db}, {name: other, url: y.db}]\ngenerators:\n  - {name: a, kind: slots, "+tt.a+
			"}\n  - {name: b, kind: cached, "+tt.b+"}\n  - {name: o, kind: segment, store: other}\n  - {name: d, kind: segment, store: db}\n", config.Flags{})
		want := tt.want
		if line, first := 4, strings.HasPrefix(want, "[0]"); want != "" {
			if first {
				line = 3
			}
			want = fmt.Sprintf("line %d: generators%s", line, want)
		}
		if (fault == "") != (want == "") || !strings.HasPrefix(fault, want) {
			t.Errorf("%s beside %s: %s, want %q", tt.a, tt.b, fault, want)
		}
	}
}

// minimal is a config without faults.
const minimal = `
generators:
  - {name: ids, kind: cached, worker: "static:1"}
`

// Each fault is found by itself too: no other one hides it or stands in for it.
func TestFault(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{" \n# generators:\n", "line 1: want one YAML document with generators: no documents in stream"},
		{"a: b\n c: d", "line 2: want one YAML document with generators: mapping values are not allowed in this context"},
		{"listen: a\n---\nlisten: b", "line 1: want one YAML document with generators: expected single document, found multiple"},
		{"- 7", "line 1: want keys and values: listen, redis, socket_mode, hosts, tls, stores, generators, tokens, limits, shutdown, log"},
		{"generators: []", "line 1: generators: is empty, want one or more"},
		{"generators: ids", "line 1: generators: want a list"},
		{"generators: [{name: ids, kind: }]", `line 1: generators[0].kind: is "", want cached, default, segment, slots, tags`},
		{"generators: [{name: ids, kind: [cached]}]", "line 1: generators[0].kind: want a string"},
		{"generators: [{name: [ids], kind: cached, worker: \"static:1\"}]\ntokens: [{name: t, generators: [ids], sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]",
			"line 1: generators[0].name: want a string"},
		{"generators: [{name: ids, kind: cachd, slots: 4, bost_power: 3}]", "line 1: generators[0].kind: is \"cachd\", want cached, default, segment, slots, tags\n" +
			"line 1: generators[0].bost_power: there is no such key, want one of name, kind, ids, optional, layout, worker, store, numbers, window, expiry, ids_per_s, boost_power, " +
			"padding_factor, schedule, max_borrow, max_age, max_backward, table, step, min_step, max_step, ahead, load_at, load_timeout, limit, tag, create, slots, match, max_tags, idle"},
		{"generators: [{name: ids}]", `line 1: generators[0].kind: is "", want cached, default, segment, slots, tags`},
		{"log: {? [a] : b}" + minimal, "line 1: log.?: there is no such key, want one of format, requests_per_s"},
		{`log: {"": b}` + minimal, "line 1: log.?: there is no such key, want one of format, requests_per_s"},
		{"listen: :8080" + minimal, `line 1: listen: is ":8080", which others can reach, and nobody has to authenticate: want tokens, tls.client_ca, a loopback address, or --anonymous`},
		{"listen: ids.example.com:80" + minimal, `line 1: listen: is "ids.example.com:80", which others can reach, and nobody has to authenticate: want tokens, tls.client_ca, a loopback address, or --anonymous`},
		{"listen: 8080" + minimal, `line 1: listen: is "8080", want a host and a port, such as 127.0.0.1:8080, or unix: and a path`},
		{"redis: {listen: 0.0.0.0:6380}" + minimal, `line 1: redis.listen: is "0.0.0.0:6380", which others can reach, and nobody has to authenticate: want tokens, tls.client_ca, a loopback address, or --anonymous`},
		{"generators: [{name: a, kind: cached, worker: \"static:1\", boost_power: 3, max_borrow: 1ns, max_age: 3s}]",
			`line 1: generators[0].boost_power: is 3, want at most 1: a ring of 2^3 ticks of 1s never fills with max_borrow 1ns and max_age 3s`},
		{"redis: {}" + minimal, `line 1: redis.listen: is "", want a host and a port, such as 127.0.0.1:8080, or unix: and a path`},
		{"redis: {listen: 127.0.0.1:8080}" + minimal, `line 1: redis.listen: is "127.0.0.1:8080", where HTTP is served: want another address`},
		{"listen: \"unix:\"" + minimal, `line 1: listen: is "unix:", want the path of a file, such as unix:/run/uidring/redis.sock`},
		{"listen: unix:@abstract" + minimal, `line 1: listen: is "unix:@abstract", want the path of a file, such as unix:/run/uidring/redis.sock`},
		{"listen: unix:/" + strings.Repeat("x", 103) + minimal, `line 1: listen: is "unix:/` + strings.Repeat("x", 103) + `", a path of 104 bytes, want at most 103 for a socket`},
		{"listen: unix:/x\ntls: {cert: testdata/cert.pem, key: testdata/key.pem, client_ca: testdata/cert.pem}" + minimal,
			`line 1: listen: is "unix:/x", whose clients cannot have a certificate: want tokens, or another address`},
		{"stores: [{name: [db], url: x.db}, 7, {name: other, url: 127.0.0.1:99999}]\ngenerators: [{name: a, kind: cached, store: db, max_age: 1, boost_power: 99}, {name: b, kind: none}]\ntokens: [{name: t, generators: [c], sha256: [x]}]\nlisten: :80",
			`line 1: stores[0].name: want a string
line 1: stores[1]: want keys and values: name, url, env, file
line 1: stores[2]: the config: "127.0.0.1:99999" is not an SQLite file, and does not end in .db; want an SQLite file such as app.db, sqlite:PATH, mysql://user@host:3306/name or postgres://user@host:5432/name
line 2: generators[0].max_age: is "1", want a duration such as 1m30s
line 2: generators[0].boost_power: is 99, want 1 to 20
line 2: generators[1].kind: is "none", want cached, default, segment, slots, tags
line 3: tokens[0].sha256: want a string`},
		{"generators: [{name: a, kind: cached, worker: 7, numbers: 1-9, window: 1m}, {name: a, kind: slots, worker: \"static:99999999999\", layout: x, numbers: 5-1}]",
			`line 1: generators[0].worker: is "7", want lease, registry, statefulset, or static:N, where N is 0 or more
line 1: generators[1].name: is "a", as is generators[0]: want another name
line 1: generators[1].layout: invalid layout: "x" is neither three widths, such as 31/16/16, nor one of fleet, registry, long-lived, js-safe, snowflake, baidu
line 1: generators[1].numbers: is "5-1", want two numbers, the lower first, such as 0-99, or a site, such as region=3`},
		{"socket_mode: 0440" + minimal, `line 1: socket_mode: is "0440", want a file mode in octal, from 0600 to 0777, such as 0660`},
		{"listen: [8080]" + minimal, `line 1: listen: want a string`},
		{"listen: 127.0.0.1:1\nlisten: 127.0.0.1:2" + minimal, `line 2: listen: is given twice, want it once: the other is on line 1`},
		{"tls: {cert: none.pem, key: none.pem}" + minimal, "line 1: tls: none.pem and none.pem: open none.pem: no such file or directory"},
		{"tls: {cert: testdata/cert.pem, key: testdata/key.pem, client_ca: testdata/key.pem}" + minimal, "line 1: tls: testdata/key.pem has no certificate in PEM"},
		{"tls: {cert: none.pem, key: none.pem, client_ca: testdata/key.pem}" + minimal, "line 1: tls: none.pem and none.pem: open none.pem: no such file or directory; testdata/key.pem has no certificate in PEM"},
		{"tls: {cert: none.pem, key: none.pem, client_ca: no-ca.pem}" + minimal, "line 1: tls: none.pem and none.pem: open none.pem: no such file or directory; open no-ca.pem: no such file or directory"},
		{"listen: 127.0.0.1:99999" + minimal, `line 1: listen: is "127.0.0.1:99999", want a host and a port, such as 127.0.0.1:8080, or unix: and a path`},
		{`generators: [{name: ids, kind: cached, worker: "static:1", layout: "28/22/13,epoch=2001-01-01"}]`, "line 1: generators[0].layout: is 28/22/13,epoch=2001-01-01,unit=1s, which ended at 2009-07-04T21:24:16Z: want one that ends later"},
		{"stores: [{name: db, url: x.db}]\ngenerators: [{name: all, kind: tags, store: db, match: \"order-*\"}]\ntokens: [{name: t, generators: [all, order-1, \"a*\"], sha256: " + hash + "}]",
			`line 3: tokens[0].generators[0]: is "all", the name of a generator of kind tags: want its counters, such as order-*`},
		{"stores: [{name: db, url: x.db}]" + minimal, `line 1: stores[0]: no generator uses the store "db": use it or remove it`},
		{"tokens: [{name: t, generators: [ids], sha256: hunter2}]" + minimal, "line 1: tokens[0].sha256: want 64 hexadecimal digits, as printf %s TOKEN | sha256sum prints"},
		{"tokens: [{name: t, generators: [ids], sha256: " + hash + "00}]" + minimal, "line 1: tokens[0].sha256: want 64 hexadecimal digits, as printf %s TOKEN | sha256sum prints"},
		{"tokens: [{name: t, generators: [other], sha256: " + hash + "}]" + minimal, `line 1: tokens[0].generators[0]: is "other", which is not a generator`},
		{"tokens: [{name: t, sha256: " + hash + "}]" + minimal, "line 1: tokens[0]: the token allows nothing: want generators, or operations: true"},
		{minimal + "    ids: 7000000\n", "line 4: want one YAML document with generators: did not find expected '-' indicator"},
	} {
		if fault := faultOf(tt.text, config.Flags{}); fault != tt.want {
			t.Errorf("%q:\n%s\nwant\n%s", tt.text, fault, tt.want)
		}
	}
	if fault := faultOf("listen: :8080"+minimal, config.Flags{Anonymous: true}); fault != "" {
		t.Errorf("anonymous: %s", fault)
	}
	for _, secure := range []string{
		"tokens: [{name: t, generators: [ids], sha256: " + hash + "}]",
		"tls: {cert: testdata/cert.pem, key: testdata/key.pem, client_ca: testdata/cert.pem}",
	} {
		if fault := faultOf("listen: 0.0.0.0:8080\n"+secure+minimal, config.Flags{}); fault != "" {
			t.Errorf("%s: %s", secure, fault)
		}
	}
}

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// Passwords are found in every form of a URL, and not shown.
func TestPasswordInURL(t *testing.T) {
	for url, has := range map[string]bool{
		"postgres://u:secret-1@h/db": true, "mysql://u:secret-1@h/db": true, "redis://:secret-1@h": true, "u:secret-1@tcp(h)/db": true,
		"host=h user=u password=secret-1 dbname=d": true, "host=h PASSWORD = 'secret-1'": true, "postgres://h/db?password=secret-1": true,
		"zk://u:secret-1@h1,h2/p": true, "rediss://u:secret-1@h": true, "u:secret-1/x@tcp(h)/db": true, "u:secret-1/x@/db": true, "redis://h?password=secret-1": true,
		"app.db": false, "postgres://u@h:5432/db": false, "u@tcp(h:3306)/db": false, "redis://h:6379/0": false, "host=h user=u": false,
		"etcd://h1:2379,h2:2379": false, "sqlite:/srv/a@b/x.db": false,
	} {
		fault := faultOf("stores: [{name: db, url: \""+url+"\"}]\ngenerators: [{name: o, kind: cached, store: db}]", config.Flags{})
		if !has && fault != "" || has && !strings.Contains(fault, "it has a password") || strings.Contains(fault, "secret-1") {
			t.Errorf("%s: %s", url, fault)
		}
	}
}

// A file with no URL, or with more than a URL can have, is refused and not shown.
func TestSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	for size, want := range map[int]string{0: "has no URL", 9: "", 64 << 10: "", 64<<10 + 1: "has more than 65536 bytes", 1 << 20: "has more than 65536 bytes"} {
		text := "secret.db" + strings.Repeat("\n", max(0, size-9))
		need.Must(t, os.WriteFile(file, []byte(text[:size]), 0o600))
		fault := faultOf("stores: [{name: db, file: "+file+"}]\ngenerators: [{name: ids, kind: cached, store: db}]", config.Flags{})
		if (fault == "") != (want == "") || fault != "" && !strings.Contains(fault, file+" "+want) || strings.Contains(fault, "secret.db") {
			t.Errorf("%d bytes: %s, want %q", size, fault, want)
		}
	}
}

// What is printed can be read again and prints the same, and has no secret in it.
func TestPrint(t *testing.T) {
	t.Setenv("UIDRINGD_TEST_DB", "postgres://ids:secret-8@h/db")
	full, err := config.Read("testdata/uidringd.yaml", config.Flags{})
	need.Must(t, err)
	if got := full.Store("coordinator").DSN().Text; got != "etcd://ids:secret-9@127.0.0.1:2379" {
		t.Errorf("the URL in the file is %q", got)
	}
	demo, err := config.Demo(config.Flags{})
	need.Must(t, err)
	if demo.Limits.RunIDs != uidclient.DefaultMaxIDs {
		t.Errorf("a server allows %d ids of a counter a request, and a client asks for %d", demo.Limits.RunIDs, uidclient.DefaultMaxIDs)
	}
	for path, c := range map[string]*config.Config{"testdata/printed.txt": full, "testdata/demo.txt": demo} {
		text, err := yaml.Dump(c)
		need.Must(t, err)
		statstest.Golden(t, path, text)
		if strings.Contains(string(text), "secret-") {
			t.Error("a secret is shown")
		}
		again, err := config.Parse(text, config.Flags{})
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s: %+v, %v; want what was printed", path, again, err)
		}
	}
	for _, text := range []string{"0-99", "region=3"} {
		n := new(config.Numbers)
		need.Must(t, n.UnmarshalText([]byte(text)))
		if again, _ := n.MarshalText(); string(again) != text {
			t.Errorf("numbers %s are printed as %s", text, again)
		}
	}
}

// In a generator, a key that has another default takes no 0, as no flag of that meaning does. Of
// others, 0 is the default.
func TestZeros(t *testing.T) {
	for kind, zeros := range map[string]string{
		"cached": "expiry: 0s, boost_power: 0, padding_factor: 0, max_borrow: 0s, max_age: 0s", "default": "max_backward: 0s", "slots": "slots: 0",
		"tags": `max_step: 0, ahead: 0s, load_at: 0, load_timeout: 0s, limit: 0, match: "", max_tags: 0, idle: 0s`, "segment": "load_at: 0",
	} {
		for zero := range strings.SplitSeq(zeros, ", ") {
			key, _, _ := strings.Cut(zero, ":")
			fault := faultOf("stores: [{name: db, url: x.db}]\ngenerators: [{name: a, kind: "+kind+", store: db, "+zero+"}]", config.Flags{})
			if !strings.HasPrefix(fault, "line 2: generators[0]."+key+": is ") || strings.Contains(fault, "\n") {
				t.Errorf("%s of kind %s: %q", zero, kind, fault)
			}
		}
	}
	c, err := config.Parse([]byte("stores: [{name: db, url: x.db}]\ngenerators: [{name: a, kind: cached, store: db, window: 0s, ids_per_s: 0}]"), config.Flags{})
	if err != nil || c.Generators[0].Window != 10*time.Minute || c.Generators[0].Rate != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A fixed number is reserved for no longer than a restart after a crash waits.
func TestWindows(t *testing.T) {
	for worker, want := range map[string]time.Duration{"lease": 10 * time.Minute, "static:7": time.Minute, "statefulset": time.Minute, "static:7, window: 2m": 2 * time.Minute} {
		c, err := config.Parse([]byte("stores: [{name: db, url: x.db}]\ngenerators: [{name: ids, kind: default, store: db, worker: "+worker+"}]\n"), config.Flags{})
		if err != nil || c.Generators[0].Window != want {
			t.Errorf("%s: %+v, %v; want a window of %v", worker, c, err, want)
		}
	}
}

// In a pattern, * matches a slash too, which names of counters have.
func TestMatch(t *testing.T) {
	for text, want := range map[string]bool{"* a/b": true, "a* a/b": true, "a?b a/b": true, "a/* a/b": true, "a/b a/b": true, "a/c a/b": false, "b* a/b": false, "[ a": false} {
		pattern, name, _ := strings.Cut(text, " ")
		if got := config.Match(pattern, name); got != want {
			t.Errorf("Match(%q, %q) = %v", pattern, name, got)
		}
	}
}

// The sample has every key of the reference.
func TestSampleHasEveryKey(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(?:.*\\.)?(\\w+)`").FindAllStringSubmatch(config.Reference(), -1)
	if len(rows) < 50 {
		t.Errorf("the reference has %d keys", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(config.Sample, row[1]+":") {
			t.Errorf("the sample lacks %s", row[1])
		}
	}
}

// No text makes Parse panic.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/uidringd.yaml", "testdata/faulty.yaml"} {
		text, err := os.ReadFile(file)
		need.Must(f, err)
		f.Add(string(text))
	}
	f.Add(minimal)
	f.Add("a: &a [*a]\ngenerators: *a\n")
	f.Add("x: &x {listen: a}\n<<: *x\ngenerators: [{<<: *x, kind: cached}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse([]byte(text), config.Flags{})
		if (c == nil) != (err != nil) {
			t.Errorf("%v, %v", c, err)
		}
		if err != nil && err.Error() == "" {
			t.Error("the error says nothing")
		}
	})
}
