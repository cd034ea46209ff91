// Package examples contains only tests, of HTTP clients in other languages,
// each in one file that needs nothing but the language's own library.
package examples

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

const (
	token = "a-token"
	name  = "order ids" // which a client has to escape
)

// serve starts the server's HTTP and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	gen, err := uid.NewCached(t.Context(), lease.NewStatic(1), uid.CachedConfig{})
	c := servicetest.New()
	c.Add(t, name, "cached", nil, gen, err).MaxIDs = 10_000
	s := service.New(c, service.Config{
		Tokens: []service.Token{{Name: "examples", Hash: sha256.Sum256([]byte(token))}},
		Logger: slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(api.New(s, nil))
	t.Cleanup(server.Close)
	return server.URL
}

// client is a program and its first arguments.
type client []string

// clients are those of all languages. Java's classes are compiled once, by javac.
func clients(t *testing.T) map[string]client {
	t.Helper()
	all := map[string]client{"Python": {"python3", "uidring.py"}, "Node": {"node", "uidring.mjs"}}
	if compiler, err := exec.LookPath("javac"); err == nil {
		classes := t.TempDir()
		if out, err := exec.CommandContext(t.Context(), compiler, "-Xlint:all", "-Werror", "-d", classes, "Uidring.java").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all["Java"] = client{"java", "-XX:TieredStopAtLevel=1", "-cp", classes, "Uidring"}
	} else {
		all["Java"] = client{"javac"} // it is looked up, and the test is skipped
	}
	return all
}

// run skips the test without the program. It returns standard output and standard error.
func (c client) run(t *testing.T, url, token, name, n string) (string, string, error) {
	t.Helper()
	program := need.Program(t, c[0])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, slices.Concat(c[1:], []string{url, name, n})...)
	cmd.Env = append(os.Environ(), "UIDRING_TOKEN="+token)
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if token != "" && strings.Contains(stderr.String(), strings.TrimSpace(token)) {
		t.Errorf("the error has the token: %s", stderr)
	}
	return string(out), stderr.String(), err
}

// Each client draws ids, which are unique and ascend, and says why it gets none.
func TestClients(t *testing.T) {
	url, last := serve(t), uid.ID(0)
	for language, client := range clients(t) {
		t.Run(language, func(t *testing.T) {
			const n = 5000
			out, stderr, err := client.run(t, url, token, name, strconv.Itoa(n))
			ids := strings.Fields(out)
			if err != nil || len(ids) != n {
				t.Fatalf("%d ids, %v: %s", len(ids), err, stderr)
			}
			for _, text := range ids {
				id, err := uid.ParseID(text)
				if err != nil || id <= last {
					t.Fatalf("id %s after %d: %v", text, last, err)
				}
				last = id
			}
			for _, c := range []struct {
				token, name string
				n           int
				want        []string
			}{
				{token, "no/such", 2, []string{"no%2Fsuch", "404", "there is no generator"}},
				{token, name, 10_002, []string{"n=10001", "400", "want 1 to 10000"}},
				{"another", name, 2, []string{"401", "no known bearer token"}},
			} {
				_, stderr, err := client.run(t, url, c.token, c.name, strconv.Itoa(c.n))
				if err == nil {
					t.Errorf("%v: it ends without a failure", c)
				}
				clitest.Wants(t, stderr, c.want...)
			}
		})
	}
}
