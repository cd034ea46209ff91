package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/need"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }

// uidring is the command under test.
var uidring = clitest.Command(newRoot)

// unread is standard output that fails as a pipe does whose reader has gone.
type unread struct{ err error }

func (u unread) Write([]byte) (int, error) { return 0, u.err }

func runInto(ctx context.Context, stdout unread, args ...string) clitest.Outcome {
	var stderr bytes.Buffer
	code := uidring.Run(ctx, strings.NewReader("1\n2\n"), stdout, &stderr, args...)
	return clitest.Outcome{Code: code, Stderr: stderr.String()}
}

// The error about another layout names flags of the command.
func TestOtherLayout(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen", "--layout", "registry")
	for _, worker := range []string{"registry", "lease"} {
		text := uidring.Fail(t, 1, "uidring.db", "gen", "--layout", "fleet", "--worker", worker)
		if clitest.Wants(t, text, "leave out --layout, ", "uidring layout change --to 31/16/16"); strings.Contains(text, "worker.") || len(text) > 500 {
			t.Errorf("%s: %s", worker, text)
		}
	}
}

// A trial is undone as docs/choosing.md says: then a store takes another layout.
func TestUndo(t *testing.T) {
	page, err := os.ReadFile("../../docs/choosing.md")
	need.Must(t, err)
	undo := regexp.MustCompile("`(DELETE FROM\\s[^`]+)`").FindAllStringSubmatch(string(page), -1)
	if len(undo) != 2 {
		t.Fatalf("the page has %q, want two statements", undo)
	}
	clitest.Elsewhere(t)
	for i, layout := range []string{"registry", "fleet"} {
		for _, worker := range []string{"registry", "lease"} {
			uidring.Succeed(t, "gen", "--layout", layout, "--worker", worker)
		}
		if i == 0 {
			execute(t, database.Default, undo[0][1])
			execute(t, database.Default, undo[1][1])
		}
	}
}

// The command links SQL drivers alone, so that it is quick to build. It says which
// command has the other stores.
func TestLight(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	need.Must(t, err)
	for _, heavy := range []string{"go.etcd.io/", "google.golang.org/", "github.com/redis/", "github.com/go-zookeeper/"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("uidring links %s", heavy)
		}
	}
	for _, url := range []string{"etcd://host", "redis://:secret@host", "rediss://host", "zk://host"} {
		for _, args := range []string{"gen", "gen --worker lease", "workers", "workers release 1", "segments"} {
			got := uidring.Invoke(t, "", append(strings.Fields(args), "--dsn", url)...)
			if got.Code != 2 || !strings.Contains(got.Stderr, "go install github.com/uidring/uidring/cmd/uidringd@latest") || strings.Contains(got.Stderr, "secret") {
				t.Errorf("%s --dsn %s: %+v", args, url, got)
			}
		}
	}
}
