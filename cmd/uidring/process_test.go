package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
)

// running is the command as a process that has printed a line.
type running struct {
	cmd    *exec.Cmd
	first  int64 // id
	pipe   io.Closer
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// start runs gen until it has printed an id.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{cmd: clitest.Process(t, args...)}
	r.begin(t)
	return r
}

func (r *running) begin(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent signals there")
	}
	r.cmd.Stderr = &r.stderr
	pipe, err := r.cmd.StdoutPipe()
	need.Must(t, err)
	need.Must(t, r.cmd.Start())
	r.pipe, r.stdout = pipe, bufio.NewReader(pipe)
	line, err := r.stdout.ReadString('\n')
	if err != nil {
		_ = r.cmd.Wait()
		t.Fatalf("%q: %v, %s", r.cmd.Args, err, &r.stderr)
	}
	r.first = clitest.ReadIDs(t, line)[0]
}

// end sends a signal and waits for the process to end.
func (r *running) end(t *testing.T, s os.Signal) (code int, rest, stderr string) {
	t.Helper()
	need.Must(t, r.cmd.Process.Signal(s))
	return r.wait()
}

func (r *running) wait() (code int, rest, stderr string) {
	text, _ := io.ReadAll(r.stdout)
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode(), string(text), clitest.WithoutStart(r.stderr.String())
}

// hourly has one id an hour, so that a stream waits after the first.
const hourly = "24/20/0,unit=1h"

// hangs has the processes that a test starts get SIGHUP, also under nohup.
func hangs(t *testing.T) {
	t.Helper()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
}

// A signal ends the stream after a whole line, with the shells' exit code.
func TestProcessSignals(t *testing.T) {
	hangs(t)
	for _, tt := range []struct {
		signal syscall.Signal
		args   []string
		code   int
	}{
		{syscall.SIGINT, []string{"--layout", hourly, "--generator", "default"}, 130},
		{syscall.SIGTERM, []string{"--layout", hourly, "--generator", "default"}, 143},
		{syscall.SIGHUP, []string{"--layout", hourly, "--generator", "default"}, 129},
		{syscall.SIGINT, []string{"--max-borrow", "-1s"}, 130}, // in full flight
	} {
		r := start(t, append([]string{"gen", "-n", "1000000000000", "--worker", "static:1"}, tt.args...)...)
		code, rest, stderr := r.end(t, tt.signal)
		if code != tt.code || stderr != "" {
			t.Errorf("%v %q: exit code %d, %q; want %d and silence", tt.signal, tt.args, code, stderr, tt.code)
		}
		clitest.ReadIDs(t, rest)
	}
}

// A terminal that closes sends SIGHUP several times, and the number is given back all the same.
func TestHangup(t *testing.T) {
	hangs(t)
	clitest.Elsewhere(t)
	r := start(t, "gen", "-n", "1000000000000", "--worker", "lease", "--generator", "default")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for r.cmd.Process.Signal(syscall.SIGHUP) == nil {
		}
	}()
	code, _, stderr := r.wait()
	<-ended
	if code != 129 || stderr != "" {
		t.Errorf("exit code %d, %q; want 129 and silence", code, stderr)
	}
	if rows := uidring.Workers(t, database.Default).Leases; len(rows) != 1 || rows[0].State != lease.StateFree {
		t.Errorf("numbers are %+v, want one that is free", rows)
	}
}

// A process that ignores SIGHUP, as nohup makes it do, goes on.
func TestNoHangup(t *testing.T) {
	clitest.Elsewhere(t)
	cmd := clitest.Process(t, "gen", "-n", "1000000000000", "--worker", "static:1", "--layout", hourly, "--generator", "default")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP && exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = need.Program(t, "sh")
	r := &running{cmd: cmd}
	r.begin(t)
	need.Must(t, r.cmd.Process.Signal(syscall.SIGHUP))
	if code, _, stderr := r.end(t, syscall.SIGTERM); code != 143 {
		t.Errorf("exit code %d, %q; want that of SIGTERM", code, stderr)
	}
}

// wholeLines drops what was cut off at the end.
func wholeLines(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// Leased numbers from the first holder to the last: two that hold at one time, one
// that is ended, one that is killed, and what becomes of its number.
func TestProcessLeases(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			owner, _ := clitest.User(t, kind)
			leaseLife(t, owner.String())
		})
	}
}

func leaseLife(t *testing.T, dsn string) {
	a := clitest.Allocator(t, "fleet")
	gen := func(generator string) *running {
		return start(t, "gen", "-n", "1000000000000", "--worker", "lease", "--dsn", dsn, "--generator", generator)
	}
	all := map[int64]bool{}
	collect := func(worker int64, ids ...int64) {
		for _, id := range ids {
			if parts, err := a.Parse(id); err != nil || parts.Worker != worker || all[id] {
				t.Fatalf("%d: %+v, %v, repeats: %v; want worker %d", id, parts, err, all[id], worker)
			}
			all[id] = true
		}
	}
	states := func(want ...lease.State) {
		t.Helper()
		var got []lease.State
		for _, row := range uidring.Workers(t, dsn).Leases {
			got = append(got, row.State)
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("numbers are %v, want %v", got, want)
		}
	}

	first, second := gen("cached"), gen("default")
	states(lease.StateHeld, lease.StateHeld)
	collect(1, first.first)
	collect(2, second.first)
	code, rest, stderr := first.end(t, syscall.SIGINT)
	if code != 130 || stderr != "" {
		t.Errorf("exit code %d, %q; want 130 and silence", code, stderr)
	}
	collect(1, clitest.ReadIDs(t, rest)...)
	states(lease.StateFree, lease.StateHeld)

	_, rest, _ = second.end(t, syscall.SIGKILL)
	collect(2, clitest.ReadIDs(t, wholeLines(rest))...)
	states(lease.StateFree, lease.StateHeld)
	execute(t, dsn, "UPDATE WORKER_LEASE SET heartbeat_at = heartbeat_at - 3600000 WHERE worker_id = 2")
	states(lease.StateFree, lease.StateExpired)
	uidring.Print(t, "number 2 is free\n", "workers", "release", "2", "--dsn", dsn)
	states(lease.StateFree, lease.StateFree)

	// Both have time reserved ahead of the present: none of them is the next.
	for _, tt := range []struct {
		generator string
		end       func(r *running) (int, string, string)
		code      int
	}{
		{"default", func(r *running) (int, string, string) { return r.end(t, syscall.SIGTERM) }, 143},
		{"cached", func(r *running) (int, string, string) { r.pipe.Close(); return r.wait() }, 0},
	} {
		next := gen(tt.generator)
		parts, err := a.Parse(next.first)
		if err != nil || all[next.first] {
			t.Errorf("%d, %v: an id repeats", next.first, err)
		}
		code, rest, stderr := tt.end(next)
		if code != tt.code || stderr != "" {
			t.Errorf("%s: exit code %d, %q; want %d and silence", tt.generator, code, stderr, tt.code)
		}
		collect(parts.Worker, append([]int64{next.first}, clitest.ReadIDs(t, wholeLines(rest))...)...)
	}
	for _, row := range uidring.Workers(t, dsn).Leases {
		if row.State != lease.StateFree {
			t.Errorf("%+v, want it free", row)
		}
	}
}

// onTerminal runs the command on a terminal, where stdin is typed.
func onTerminal(t *testing.T, stdin, args string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("script of util-linux is needed")
	}
	t.Setenv("TERM", "xterm")
	self := clitest.Process(t)
	cmd := exec.CommandContext(t.Context(), need.Program(t, "script"), "-qec", self.Path+" "+args, os.DevNull)
	cmd.Env, cmd.Stdin = self.Env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", args, err, out)
	}
	return string(out)
}

// A terminal gets colors, a word before a wait, and no line that is for a program.
func TestTerminal(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen", "--worker", "lease")
	execute(t, database.Default, "UPDATE WORKER_LEASE SET heartbeat_at = 1")
	t.Setenv("NO_COLOR", "")
	os.Unsetenv("NO_COLOR")
	clitest.Wants(t, onTerminal(t, "", "workers"), "\x1b[31mexpired\x1b[0m  ")
	t.Setenv("NO_COLOR", "1")
	if got := onTerminal(t, "", "workers"); !strings.Contains(got, "expired") || strings.Contains(got, "\x1b[") {
		t.Errorf("%q", got)
	}
	clitest.Wants(t, onTerminal(t, "22265110462791687\n\x04", "parse --layout fleet"), "reading ids from the terminal", "SEQUENCE")
	clitest.Wants(t, onTerminal(t, "", "gen -n 20000 --generator default --layout registry --worker static:1 >"+os.DevNull), "/20000, ")
	if got := onTerminal(t, "", "bench --count 1 --duration 1ms"); !strings.Contains(got, "samples") || strings.Contains(got, "BenchmarkNext") || !strings.Contains(got, "\nNextParallel/impl=Cached") {
		t.Errorf("%q", got)
	}
}

// workers --watch lists until an interrupt.
func TestWatch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent signals there")
	}
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen")
	cmd := clitest.Process(t, "workers", "--watch", "--json")
	pipe, err := cmd.StdoutPipe()
	need.Must(t, err)
	need.Must(t, cmd.Start())
	lines := bufio.NewReader(pipe)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"last":1,`) {
			t.Errorf("%q, %v", line, err)
		}
	}
	need.Must(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
