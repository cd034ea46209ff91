// Package clitest runs uidring's commands inside a test.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/internal/test/need"
)

// A Command makes the command under test, a new one for each run.
type Command func() *cobra.Command

// Of returns the command uidring with nothing but some of its subcommands.
func Of(subcommands ...func() *cobra.Command) Command {
	return func() *cobra.Command {
		root := &cobra.Command{Use: "uidring"}
		for _, sub := range subcommands {
			root.AddCommand(sub())
		}
		return root
	}
}

// SQL returns a subcommand that takes SQL databases and no other stores.
func SQL(sub func(database.Stores) *cobra.Command) func() *cobra.Command {
	return func() *cobra.Command { return sub(nil) }
}

// beMain has a test's binary be its package's command.
const beMain = "UIDRING_TEST_BE_MAIN"

// Main runs the tests of a command's package, or main in a process of [Process].
func Main(m *testing.M, main func()) {
	if os.Getenv(beMain) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// Process returns the package's command as a separate process in the current directory.
func Process(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	need.Must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd
}

// Outcome is what a run of the command left.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Run runs the command with ctx and standard output of the test's own.
func (c Command) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) (code int) {
	return cli.Run(ctx, c(), args, stdin, stdout, stderr)
}

// Invoke runs the command and returns its result.
func (c Command) Invoke(t testing.TB, stdin string, args ...string) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := c.Run(t.Context(), strings.NewReader(stdin), &stdout, &stderr, args...)
	return Outcome{code, stdout.String(), stderr.String()}
}

// Succeed is Invoke for what must work without a word on standard error, except those
// that WithoutStart removes. It returns standard output.
func (c Command) Succeed(t testing.TB, args ...string) string {
	t.Helper()
	got := c.Invoke(t, "", args...)
	if got.Code != 0 || WithoutStart(got.Stderr) != "" {
		t.Fatalf("uidring %s: exit code %d, standard error %q", strings.Join(args, " "), got.Code, got.Stderr)
	}
	return got.Stdout
}

// Show is Succeed for what must print a text.
func (c Command) Show(t testing.TB, want string, args ...string) {
	t.Helper()
	Wants(t, c.Succeed(t, args...), want)
}

// Print is Succeed for what must print a text and nothing else.
func (c Command) Print(t testing.TB, want string, args ...string) {
	t.Helper()
	if got := c.Succeed(t, args...); got != want {
		t.Errorf("%q: %s\nwant %s", args, got, want)
	}
}

// Wants fails the test unless a text has all the parts.
func Wants(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s\nwant %q in it", text, part)
		}
	}
}

// Fail is Invoke for what must print nothing, and end with an exit code and a text on standard error, which
// it returns.
func (c Command) Fail(t testing.TB, code int, want string, args ...string) string {
	t.Helper()
	got := c.Invoke(t, "", args...)
	if got.Code != code || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
		t.Errorf("%q: %+v, want exit code %d and %q", args, got, code, want)
	}
	return got.Stderr
}

var started = regexp.MustCompile(`(?m)^uidringd?: (created the tables? WORKER_[A-Z_ and]+ in .*|worker number \d+ \(--worker .*\), layout \S+ \([^)]*\))\n`)

// WithoutStart returns standard error without the line that each start of gen writes, and
// the one that the first start on a database writes.
func WithoutStart(stderr string) string { return started.ReplaceAllString(stderr, "") }

// Open opens a database until the test ends.
func Open(t testing.TB, dsn string) *database.Opened {
	t.Helper()
	db, err := database.DSN{Text: dsn, Origin: "the test"}.Open(t.Context())
	need.Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Elsewhere moves the test into an empty folder, with no database in the
// environment, and returns the folder.
func Elsewhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(database.Variable, "")
	return dir
}

// Server returns the URL of the server that an environment variable names by its
// driver's own DSN, or skips the test.
func Server(t testing.TB, variable string) *url.URL {
	t.Helper()
	dsn := need.Variable(t, variable)
	if variable == "UIDRING_TEST_MYSQL" {
		config, err := mysqldriver.ParseDSN(dsn)
		need.Must(t, err)
		u := &url.URL{Scheme: "mysql", User: url.User(config.User), Host: config.Addr, Path: "/" + config.DBName}
		if config.Passwd != "" {
			u.User = url.UserPassword(config.User, config.Passwd)
		}
		return u
	}
	u, err := url.Parse(dsn)
	need.Must(t, err)
	return u
}

// Allocator returns the allocator of a layout in text.
func Allocator(t testing.TB, layout string) *bits.Allocator {
	t.Helper()
	l, err := bits.ParseLayout(layout)
	need.Must(t, err)
	a, err := bits.NewAllocator(l)
	need.Must(t, err)
	return a
}

// Reference compares docs/reference, at folder, with what the command writes there.
func (c Command) Reference(t *testing.T, folder string) {
	t.Helper()
	written := t.TempDir()
	c.Succeed(t, "docs", written)
	name := c().Name()
	pages, err := filepath.Glob(filepath.Join(written, name+"*.md"))
	need.Must(t, err)
	kept, err := filepath.Glob(filepath.Join(folder, name+"[_.]*md"))
	need.Must(t, err)
	if len(pages) != len(kept) {
		t.Errorf("%s has %d pages of %s, want %d: run make reference", folder, len(kept), name, len(pages))
	}
	for _, page := range pages {
		want, err := os.ReadFile(page)
		need.Must(t, err)
		if got, err := os.ReadFile(filepath.Join(folder, filepath.Base(page))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the command writes (%v): run make reference", filepath.Base(page), err)
		}
	}
	c.Succeed(t, "docs", "--man", written)
	for _, page := range []string{name + ".1", name + "-gen.1"} {
		if text, err := os.ReadFile(filepath.Join(written, page)); err != nil || !bytes.Contains(text, []byte(".SH OPTIONS")) {
			t.Errorf("%s: %v\n%s", page, err, text)
		}
	}
}

// ReadIDs reads what gen prints: one decimal number a line and nothing else.
func ReadIDs(t *testing.T, text string) []int64 {
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

// ParsedJSON is what a line of --json holds.
type ParsedJSON struct {
	ID       int64     `json:"id,string"`
	Time     time.Time `json:"time"`
	Worker   int64     `json:"worker"`
	Sequence int64     `json:"sequence"`
	Layout   string    `json:"layout"`
	Doubt    string    `json:"doubt"`
}

// Decode reads a line of JSON that has no other fields than T.
func Decode[T any](t *testing.T, line string) (got T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	return got
}

// Workers is what workers says of a database.
func (c Command) Workers(t *testing.T, dsn string) workers.Listing {
	t.Helper()
	return Decode[workers.Listing](t, c.Succeed(t, "workers", "--json", "--limit", "0", "--dsn", dsn))
}
