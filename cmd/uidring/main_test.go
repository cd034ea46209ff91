package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// beMain has the test's binary be the command, for tests that need a process.
const beMain = "UIDRING_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// process returns the command as a process of its own, in the current folder.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd
}

// outcome is what a run of the command left.
type outcome struct {
	code           int
	stdout, stderr string
}

func invoke(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// succeed is invoke for what must work without a word on standard error.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	got := invoke(t, "", args...)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("uidring %s: exit code %d, standard error %q", strings.Join(args, " "), got.code, got.stderr)
	}
	return got.stdout
}

// elsewhere moves the test into an empty folder, with no database in the
// environment.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(dsnVariable, "")
	return dir
}

// readIDs reads what gen prints: one decimal number a line and nothing else.
func readIDs(t *testing.T, text string) []int64 {
	t.Helper()
	var ids []int64
	for line := range strings.Lines(text) {
		digits, whole := strings.CutSuffix(line, "\n")
		id, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || !whole || strconv.FormatInt(id, 10) != digits {
			t.Fatalf("line %d is %q, want an id", len(ids)+1, line)
		}
		ids = append(ids, id)
	}
	return ids
}

// unread is standard output that fails as a pipe does whose reader has gone.
type unread struct{ err error }

func (u unread) Write([]byte) (int, error) { return 0, u.err }

func runInto(ctx context.Context, stdout unread, args ...string) outcome {
	var stderr bytes.Buffer
	code := run(ctx, args, strings.NewReader("1\n2\n"), stdout, &stderr)
	return outcome{code: code, stderr: stderr.String()}
}
