package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }

// uidringd is the command under test.
var uidringd = clitest.Command(newRoot)

// Arguments that a command cannot use are shown, with what it takes.
func TestArguments(t *testing.T) {
	for args, want := range map[string]string{
		"--config= --check": "--config is empty, want the path of a YAML file, or no --config",
		"reference":         "arguments []: want one page: config, errors, metrics, routes, stores",
		"reference nosuch":  `"nosuch" is not a page; want config, errors, metrics, routes, stores`,
		"reference a b":     `arguments ["a" "b"]: want one page: config, errors, metrics, routes, stores`,
		"health a b":        `arguments ["a" "b"]: want at most one address, such as http://127.0.0.1:8080`,
		"schema a b":        `arguments ["a" "b"]: want at most one kind of database, such as mysql`,
		"gen -n -1":         `invalid argument "-1" for "-n, --count" flag: want a whole number from 0 to 9223372036854775807`,
	} {
		if got := uidringd.Invoke(t, "", strings.Fields(args)...); got.Code != 2 || !strings.HasPrefix(got.Stderr, "uidringd: "+want+"\nSee 'uidringd ") {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
}

// The reference is what the commands say of themselves.
func TestReference(t *testing.T) { uidringd.Reference(t, "../../docs/reference") }

// The server links what the subcommands need, and not what uidring measures with.
func TestLight(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	need.Must(t, err)
	if heavy := "github.com/uidring/uidring/cmd/internal/bench"; strings.Contains(string(out), heavy) {
		t.Errorf("uidringd links %s", heavy)
	}
}
