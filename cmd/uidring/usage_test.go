package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func TestHelp(t *testing.T) {
	clitest.Elsewhere(t)
	t.Setenv(database.Variable, "mysql://root:hush@db/app")
	asked := []string{"", "help gen", "help workers release", "segments set -h"}
	for _, cmd := range everyCommand(newRoot()) {
		asked = append(asked, strings.TrimPrefix(cmd.CommandPath(), "uidring")+" --help")
	}
	if help := uidring.Succeed(t, "--help"); !strings.Contains(help, "\nExit codes:\n  0 ") {
		t.Error(help)
	}
	for _, args := range asked {
		help := uidring.Succeed(t, strings.Fields(args)...)
		if !strings.Contains(help, "Examples:\n  uidring ") || strings.Contains(help, "hush") || strings.Contains(help, "[=") {
			t.Errorf("help of %q: %s", args, help)
		}
	}
}

func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, everyCommand(sub)...)
	}
	return all
}

// The examples in the help can be copied: their commands, flags and values are
// ones that exist.
func TestExamples(t *testing.T) {
	for _, cmd := range everyCommand(newRoot()) {
		for example := range strings.Lines(cmd.Example) {
			words, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(example), "|", ">"), ">")
			words, _, _ = strings.Cut(words, "   ") // what follows is a remark
			words, _, _ = strings.Cut(words, "<")
			called, args, err := newRoot().Find(strings.Fields(words)[1:])
			if err == nil {
				err = called.ParseFlags(args)
			}
			if err == nil {
				err = called.ValidateArgs(called.Flags().Args())
			}
			if err != nil {
				t.Errorf("%q: %v", words, err)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	got := uidring.Succeed(t, "--version")
	if !strings.HasPrefix(got, "uidring version ") || !strings.Contains(got, "go1.") || uidring.Succeed(t, "version") != got {
		t.Errorf("%q", got)
	}
}

// The reference is what the commands say of themselves.
func TestReference(t *testing.T) { uidring.Reference(t, "../../docs/reference") }

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := uidring.Succeed(t, "completion", shell); !strings.Contains(script, "uidring") {
			t.Errorf("%s: %q", shell, script)
		}
	}
	clitest.Elsewhere(t)
	uidring.Succeed(t, "segments", "create", "orders")
	db := clitest.Open(t, database.Default).DB
	held, err := worker.NewLeaser(db, lease.Config{}).Lease(t.Context(), lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: bits.Fleet().String()})
	need.Must(t, err)
	defer held.Release(t.Context(), time.Time{})
	for _, tt := range []struct {
		args string
		want []string // at the end :36 is words in this order, :4 no files, :0 files
	}{
		{"gen --count", []string{":4"}},
		{"gen --dsn", []string{":0"}},
		{"parse --form token --token-key", []string{":0"}},
		{"parse", []string{":4"}},
		{"gen --generator", []string{"cached", "default"}},
		{"gen --worker", []string{"lease", "registry", "static:"}},
		{"gen --layout", bits.PresetNames()},
		{"parse --layout", bits.PresetNames()},
		{"workers --layout", bits.PresetNames()},
		{"segments --table", []string{"leaf_alloc", "sequence"}},
		{"bench --layout", bits.PresetNames()},
		{"segments set", []string{"orders", ":4"}},
		{"gen --segment", []string{"orders", ":4"}},
		{"workers release", []string{"1", ":4"}},
		{"workers release 1", []string{":4"}},
		{"layout", append(strings.Fields("change Change the layout that the database remembers"), bits.PresetNames()...)},
		{"layout change --to", bits.PresetNames()},
		{"layout default --next", bits.PresetNames()},
		{"layout default --sql", []string{"postgres", "mysql", "sqlite"}},
	} {
		args := append([]string{cobra.ShellCompRequestCmd}, append(strings.Fields(tt.args), "")...)
		got := strings.Fields(uidring.Invoke(t, "", args...).Stdout)
		if !strings.HasPrefix(tt.want[len(tt.want)-1], ":") {
			tt.want = append(tt.want, ":36")
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.want)
		}
	}
}

// A reader that has gone away is not an error; any other failed write is.
func TestStandardOutputFails(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen")
	uidring.Succeed(t, "segments", "create", "orders")
	for _, args := range []string{
		"gen -n 5",
		"gen -n 5 --worker lease --dsn lease.db",
		"gen -n 1000000 --json",
		"gen -n 1000000 --worker lease --dsn lease.db",
		"gen -n 100000 --generator default --layout 31/22/2 --dsn other.db", // flushes between ticks
		"parse 1 2",
		"parse",
		"layout",
		"layout registry --json",
		"layout baidu --next registry --from 2026-01-01",
		"workers",
		"workers --json",
		"workers release 1 --dsn lease.db",
		"segments",
		"segments --json",
		"segments set orders --at-least 5",
		"gen --segment orders -n 5",
		"bench --duration 1ms --count 1",
		"--help",
		"help gen",
		"gen --help",
		"--version",
		"version",
		"completion",
		"completion bash",
	} {
		if got := runInto(t.Context(), unread{fmt.Errorf("write: %w", syscall.EPIPE)}, strings.Fields(args)...); got.Code != 0 || clitest.WithoutStart(got.Stderr) != "" {
			t.Errorf("%s to a pipe that nobody reads: %+v", args, got)
		}
		got := runInto(t.Context(), unread{errors.New("disk is full")}, strings.Fields(args)...)
		if got.Code != 1 || clitest.WithoutStart(got.Stderr) != "uidring: write to standard output: disk is full\n" {
			t.Errorf("%s to a full disk: %+v", args, got)
		}
	}
}
