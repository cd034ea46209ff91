// Package need has what a test cannot go on without: it skips tests on machines that lack a
// server, a program or a variable. With UIDRING_TEST_ALL set, as in CI, such a test fails.
package need

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// All reports whether UIDRING_TEST_ALL is set: nothing may be skipped.
func All() bool { return os.Getenv("UIDRING_TEST_ALL") != "" }

// Skip skips the test for a reason, or fails it with UIDRING_TEST_ALL.
func Skip(t testing.TB, reason ...any) {
	t.Helper()
	if All() {
		t.Fatal(append(reason, ", and UIDRING_TEST_ALL is set")...)
	} else {
		t.Skip(reason...)
	}
}

// Variable returns the value of an environment variable that the test needs.
func Variable(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		Skip(t, name+" is not set")
	}
	return value
}

// Number returns the number that an environment variable has, or otherwise without one.
func Number(t testing.TB, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, want a number", variable, text)
	}
	return n
}

// Build builds commands into a folder.
func Build(t testing.TB, folder string, commands ...string) {
	t.Helper()
	build := exec.Command("go", append([]string{"build", "-o", folder}, commands...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// Program returns the path of a program that the test needs.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, err)
	}
	return path
}

// Cgo skips a test of github.com/mattn/go-sqlite3 if it was compiled without a C compiler.
func Cgo(t testing.TB) {
	t.Helper()
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"}) {
		Skip(t, "go-sqlite3 needs cgo")
	}
}

// Time skips a test that takes more than a second, with -short.
func Time(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a second")
	}
}

// CI skips a test that runs other programs (the go command, servers), unless UIDRING_TEST_ALL
// is set.
func CI(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("runs other programs; UIDRING_TEST_ALL is not set")
	}
}

// Must ends a test, or a draw of rapid, if there is an error.
func Must(t interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Error fails the test unless err matches target, if that is not nil, and has each of the texts.
func Error(t testing.TB, err, target error, texts ...string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Errorf("%v; want an error that matches %v, with %q in it", err, target, texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v; want %q in it", err, text)
		}
	}
}

// Faults is Error, and fails the test unless err has a line for each of the texts and no other.
func Faults(t testing.TB, err, target error, texts ...string) {
	t.Helper()
	Error(t, err, target, texts...)
	if n := len(strings.Split(fmt.Sprint(err), "\n")); n != len(texts) {
		t.Errorf("%v; has %d faults, want %q", err, n, texts)
	}
}
