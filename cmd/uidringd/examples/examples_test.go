package examples

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/catalog"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

const (
	token = "a-token"
	name  = "order ids" // which a client has to escape
)

// one is a catalog of one generator.
type one struct{ *catalog.Entry }

func (one) Source(string) (i, n int) { return 0, 1 }

func (o one) Get(_ context.Context, name string) (*catalog.Entry, error) {
	if name != o.Name {
		return nil, catalog.ErrUnknown
	}
	return o.Entry, nil
}

// serve starts the server's HTTP and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	gen, err := uid.NewCached(t.Context(), uid.StaticWorker(1), uid.CachedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gen.Close() })
	s := service.New(one{&catalog.Entry{Name: name, Claimer: gen, MaxIDs: 10_000, Instance: "1"}}, service.Config{
		Tokens: []service.Token{{Name: "examples", Hash: sha256.Sum256([]byte(token))}},
		Logger: slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(api.New(s, nil))
	t.Cleanup(server.Close)
	return server.URL
}

// Each client draws ids, which are unique and ascend, and says why it gets none.
func TestClients(t *testing.T) {
	url, last := serve(t), uid.ID(0)
	for language, command := range map[string][]string{
		"Python": {"python3", "uidring.py"},
		"Java":   {"java", "Uidring.java"},
		"Node":   {"node", "uidring.mjs"},
	} {
		t.Run(language, func(t *testing.T) {
			program, err := exec.LookPath(command[0])
			if err != nil {
				t.Skip(err)
			}
			run := func(token, name string, n int) (string, string, error) {
				cmd := exec.CommandContext(t.Context(), program, append(command[1:], url, name, strconv.Itoa(n))...)
				cmd.Env = append(os.Environ(), "UIDRING_TOKEN="+token)
				stderr := new(strings.Builder)
				cmd.Stderr = stderr
				out, err := cmd.Output()
				return string(out), stderr.String(), err
			}
			const n = 5000
			out, stderr, err := run(token, name, n)
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
				_, stderr, err := run(c.token, c.name, c.n)
				if err == nil {
					t.Errorf("%v: it ends without a failure", c)
				}
				for _, want := range c.want {
					if !strings.Contains(stderr, want) {
						t.Errorf("%v: it says %q, want %q in it", c, stderr, want)
					}
				}
			}
		})
	}
}
