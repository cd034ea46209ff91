// Package processes runs processes that start their work at the same time, for conformance
// suites and tests.
package processes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const ready = "ready"

// Child calls run and exits, if [Self] started this process with the variable. Otherwise
// it returns. Call it first in TestMain. run prepares its work, calls start and prints its
// results. start returns when all processes are ready.
func Child(variable string, run func(value string, start func()) error) {
	value, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	err := run(value, func() {
		fmt.Println(ready)
		_, _ = io.Copy(io.Discard, os.Stdin) // until Run closes it for all processes
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Self returns n commands that start the test's own program for its [Child].
func Self(t testing.TB, n int, variable, value string) []*exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	commands := make([]*exec.Cmd, n)
	for i := range commands {
		commands[i] = exec.CommandContext(t.Context(), self)
		commands[i].Env = append(os.Environ(), variable+"="+value)
	}
	return commands
}

// Run starts commands that print ready, begin their work when standard input ends, and
// print their results. It returns the words that each printed.
func Run(t testing.TB, commands ...*exec.Cmd) [][]string {
	t.Helper()
	stdins, stdouts := make([]io.Closer, len(commands)), make([]*bufio.Reader, len(commands))
	for i, cmd := range commands {
		stdin, err1 := cmd.StdinPipe()
		stdout, err2 := cmd.StdoutPipe()
		cmd.Stderr = new(strings.Builder)
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		stdins[i], stdouts[i] = stdin, bufio.NewReader(stdout)
	}
	for _, stdout := range stdouts {
		if line, err := stdout.ReadString('\n'); strings.TrimSpace(line) != ready {
			t.Errorf("a process began with %q, %v", line, err)
		}
	}
	for _, stdin := range stdins {
		_ = stdin.Close()
	}
	printed := make([][]string, len(commands))
	for i, cmd := range commands {
		text, _ := io.ReadAll(stdouts[i]) // until the process ends
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stderr)
		}
		printed[i] = strings.Fields(string(text))
	}
	return printed
}
