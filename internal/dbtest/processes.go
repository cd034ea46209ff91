package dbtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childVariable is set in the processes that Processes starts.
const childVariable = "UIDRING_TEST_CHILD"

// ready is what a child says when it waits for the start.
const ready = "ready"

// Child does what the processes of [Processes] do, if this is one of them, and
// ends the process; elsewhere it returns. A TestMain calls it first. run gets ready,
// calls start, which returns when all have got ready, and prints its results.
func Child(run func(start func()) error) {
	if os.Getenv(childVariable) == "" {
		return
	}
	err := run(func() {
		fmt.Println(ready)
		_, _ = io.Copy(io.Discard, os.Stdin) // which ends for all at once
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Self is a process of the test's own program, for its [Child]. env is added to the
// environment.
func Self(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), childVariable+"=1"), env...)
	return cmd
}

// Processes runs n times [Self] at once, and returns what each printed, in words.
func Processes(t *testing.T, n int, env ...string) [][]string {
	t.Helper()
	commands := make([]*exec.Cmd, n)
	for i := range commands {
		commands[i] = Self(t, env...)
	}
	return AtOnce(t, commands...)
}

// AtOnce runs commands that print ready, work when standard input ends, and print their
// results. It returns what each printed, in words.
func AtOnce(t *testing.T, commands ...*exec.Cmd) [][]string {
	t.Helper()
	type process struct {
		cmd    *exec.Cmd
		stdin  io.Closer
		stdout *bufio.Reader
		stderr strings.Builder
	}
	processes := make([]*process, len(commands))
	for i, cmd := range commands {
		p := &process{cmd: cmd}
		p.cmd.Stderr = &p.stderr
		stdout, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p.stdout = bufio.NewReader(stdout)
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		processes[i] = p
	}
	for _, p := range processes {
		if line, err := p.stdout.ReadString('\n'); strings.TrimSpace(line) != ready {
			t.Errorf("a process began with %q, %v", line, err)
		}
	}
	for _, p := range processes {
		_ = p.stdin.Close()
	}
	printed := make([][]string, len(processes))
	for i, p := range processes {
		text, _ := io.ReadAll(p.stdout) // which ends with the process
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &p.stderr)
		}
		printed[i] = strings.Fields(string(text))
	}
	return printed
}
