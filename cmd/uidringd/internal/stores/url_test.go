package stores_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
)

// What is wrong with a URL is said at once, nothing is connected, and no part of a
// password is shown.
func TestURLs(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	need.Must(t, os.WriteFile(empty, nil, 0o600))
	for url, wants := range map[string][]string{ // without wants, it is right
		"etcd://a":                                                 nil,
		"etcd://user:pass@a,b:1,[::1]:2379/":                       nil,
		"ETCD://a/x/y?timeout=1s&tls=true":                         nil,
		"redis://:pass@a/3?read_timeout=1s":                        nil,
		"redis://a,b:7000":                                         nil,
		"redis://a?cluster=true":                                   nil,
		"redis://a,b?master_name=m&password=secret&prefix=%7Bx%7D": nil,
		"rediss://a":                                               nil,
		"zk://a,b:2182/x?session=2s":                               nil,
		"sqlite:a.db":                                              nil,

		"etcd://":                           {"a host does not parse", "etcd://host:2379"},
		"etcd://a,,b":                       {"a host does not parse"},
		"etcd://a:0":                        {`host "a": want a port from 1 to 65535`},
		"zk://a:65536":                      {`host "a": want a port`},
		"zk://a:secret":                     {"a host does not parse"},
		"etcd://a?timeout=secs":             {"option timeout=secs: want a duration from 100ms to 1h, such as 10s"},
		"zk://a?session=1ms&timeout=2h&q=1": {"option session=1ms", "option timeout=2h", `unknown option "q", want timeout, session, tls`},
		"etcd://a?tls=yes":                  {"option tls=yes: want true or false"},
		"etcd://a?ca=" + empty:              {"option ca: " + empty + " has no certificate"},
		"rediss://a?ca=/none":               {"option ca: open /none"},
		"redis://a?cert=x":                  {"options cert and key: want both", "want rediss://"},
		"zk://a?cert=/none&key=/none":       {"options cert and key: /none and /none: open /none"},
		"etcd://user@a":                     {"want user and password, or neither"},
		"zk://:secret@a":                    {"want user and password, or neither"},
		"etcd://a//x/":                      nil,
		"etcd://a/x%00":                     {`Prefix is "/x\x00"`},
		"zk://a/x//y":                       {`Path is "/x//y"`},
		"redis://a/x":                       {`invalid database number: "x"`},
		"redis://a?pool_size=x":             {"pool_size"},
		"redis://a?frobnicate=1":            {"unexpected option: frobnicate"},
		"redis://a,b/1?frobnicate=1":        {"unexpected option: frobnicate"},
		"redis://a,b?master_name=m&db=x":    {"invalid database number"},
		"redis://a?prefix=workers":          {`Prefix is "workers"`, "hash tag"},
		"redis://a?cluster=1":               {"option cluster=1: want true or false"},
		"redis://u:sec#ret@a":               {"percent-encoded"},
		"redis://u:sec/ret@a":               {"percent-encoded"},
		"redis://u:sec?ret@a":               {"percent-encoded"},
		"redis://u:sec%zzret@a":             {"percent-encoded"},
		"redis://u:p@sec/ret@a":             {"percent-encoded"},
		"etcd://u:p@sec?ret@a":              {"percent-encoded"},
		"zk://u:p@sec#ret@a":                {"percent-encoded"},
		"kube://u:p@sec/ret@a":              {"percent-encoded"},
		"kube://u/secret@a":                 {"percent-encoded"},
		"kube://a?context=me@cluster":       nil,
		"etcd://u:secret":                   {"a host does not parse"},
		"redis://a?x=%zz":                   {"the options after the ? do not parse"},
		"etcds://a":                         {`unknown scheme "etcds"`},
	} {
		t.Run(url, func(t *testing.T) {
			err := stores.At(url, "worker.url").Check()
			if wants == nil && err == nil {
				return
			}
			var usage *cli.UsageError
			if wants == nil || !errors.As(err, &usage) {
				t.Fatalf("%v, want %q", err, wants)
			}
			need.Error(t, err, nil, append(wants, "worker.url: ")...)
			for _, part := range []string{"sec#", "ret@", "sec/", "sec?", "sec%", "secret"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("%v shows a part of the password", err)
				}
			}
			if _, err := stores.At(url, "worker.url").Leases(t.Context(), lease.Config{}); !errors.As(err, &usage) {
				t.Errorf("%v, want what Check says", err)
			}
		})
	}
}
