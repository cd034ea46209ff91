//go:build unix

// Command faults puts faults into the code, one at a time, and checks that a test catches each:
//
//	faults [-only TEXT] [-stale] testdata/faults.txt
//
// Each line of the list has three fields, separated by tabs: FILE; the packages whose tests
// have to fail, relative to FILE's module, each as PACKAGE:TEST or PACKAGE, separated by
// blanks; and a sed script that changes FILE. Lines that begin with # are comments.
//
// The tests first run without a fault. Then each worker changes a scratch clone of HEAD, runs
// the tests, and restores the file. A fault is caught if a test fails, or runs for longer than
// two minutes (a package: ten). A fault is stale if its script changes nothing, or the result
// does not compile. If a fault is missed or stale, or a test fails without a fault, the exit
// status is 1.
//
// With -stale, no test runs: the command finds within seconds the faults that are stale in the
// working tree, or name a test that is not there.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "check only faults whose `FILE: SCRIPT` has this text")
	dry := flag.Bool("stale", false, "find stale faults of the working tree, and run no test")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	sound, err := run(ctx, ".", flag.Arg(0), *only, *dry, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if !sound {
		os.Exit(1)
	}
}

// fault is one line of the list.
type fault struct {
	file, script string
	targets      []target
}

// target is a package, and the test in the package that has to fail; "" is any.
type target struct{ module, name, test string }

func (f fault) String() string { return f.file + ": " + f.script }

// run reports to out what becomes of each fault of a list, and whether all are caught or, if dry,
// none is stale.
func run(ctx context.Context, repository, list, only string, dry bool, out io.Writer) (sound bool, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return false, err
	}
	faults, err := parse(repository, string(text), only)
	if err != nil {
		return false, fmt.Errorf("%s: %w", list, err)
	}
	if dry {
		return stale(repository, faults, out)
	}
	return check(ctx, repository, faults, out)
}

// check runs the tests of each fault, and before them all tests without a fault.
func check(ctx context.Context, repository string, faults []fault, out io.Writer) (sound bool, err error) {
	scratch, err := os.MkdirTemp("", "faults")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	clones := make(chan string, 2*runtime.GOMAXPROCS(0)) // that nobody uses; tests wait too
	for i := range cap(clones) {
		clone := filepath.Join(scratch, fmt.Sprint(i))
		if said, err := exec.CommandContext(ctx, "git", "clone", "-q", repository, clone).CombinedOutput(); err != nil {
			return false, fmt.Errorf("git clone: %w: %s", err, said)
		}
		clones <- clone
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	counts := make(map[string]int)
	judge := func(in func(clone string) (verdict, what string)) {
		clone := <-clones
		running.Go(func() {
			verdict, what := in(clone)
			clones <- clone
			mu.Lock()
			defer mu.Unlock()
			if counts[verdict]++; verdict != "" && ctx.Err() == nil {
				fmt.Fprintln(out, verdict, what)
			}
		})
	}
	tests := make(map[target][]string) // of each package
	for _, f := range faults {
		for _, t := range f.targets {
			of := target{module: t.module, name: t.name}
			tests[of] = append(tests[of], cmp.Or(t.test, ".*"))
		}
	}
	for of, names := range tests {
		of.test = strings.Join(names, "|")
		judge(func(clone string) (verdict, what string) {
			if said, err := of.run(ctx, clone, 20*time.Minute); err != nil {
				return "UNSOUND", fmt.Sprintf("%s %s fails without a fault: %v\n%s", of.module, of.name, err, said)
			}
			return "", ""
		})
	}
	for _, f := range faults {
		judge(func(clone string) (verdict, what string) { return f.check(ctx, clone), f.String() })
	}
	running.Wait()
	fmt.Fprintf(out, "%d caught, %d missed, %d stale\n", counts["caught"], counts["MISSED"], counts["STALE"])
	return counts["caught"] == len(faults) && counts["UNSOUND"] == 0 && len(faults) > 0, ctx.Err()
}

// parse reads a list. It returns the faults whose text has only.
func parse(repository, list, only string) (faults []fault, err error) {
	for line := range strings.Lines(list) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		part := strings.SplitN(line, "\t", 3)
		if len(part) < 3 || len(strings.Fields(part[1])) == 0 {
			return nil, fmt.Errorf("a line has FILE, PACKAGES and SCRIPT with tabs between, got %q", line)
		}
		module := filepath.Dir(part[0])
		for module != "." && !exists(filepath.Join(repository, module, "go.mod")) {
			module = filepath.Dir(module)
		}
		f := fault{file: part[0], script: part[2]}
		for field := range strings.FieldsSeq(part[1]) {
			name, test, _ := strings.Cut(field, ":")
			f.targets = append(f.targets, target{module, name, test})
		}
		if strings.Contains(f.String(), only) {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// check returns what becomes of the fault in a clone: caught, MISSED or STALE.
func (f fault) check(ctx context.Context, clone string) (verdict string) {
	defer func() { // even if ctx has ended
		if exec.Command("git", "-C", clone, "checkout", "-q", ".").Run() != nil { // the next fault would not be alone
			verdict = "STALE"
		}
	}()
	sed := exec.CommandContext(ctx, "sed", "-i", f.script, filepath.Join(clone, f.file))
	if sed.Run() != nil || exec.CommandContext(ctx, "git", "-C", clone, "diff", "--quiet").Run() == nil {
		return "STALE"
	}
	for _, t := range f.targets {
		limit := 2 * time.Minute
		if t.test == "" {
			limit = 10 * time.Minute
		}
		switch said, err := t.run(ctx, clone, limit); {
		case strings.Contains(said, "[build failed]"), strings.Contains(said, "[setup failed]"):
			return "STALE"
		case err != nil:
			return "caught"
		}
	}
	return "MISSED"
}

// run runs the test in a clone; t.test may be a pattern. It ends the processes that the test leaves behind.
func (t target) run(ctx context.Context, clone string, limit time.Duration) (said string, err error) {
	pattern := "^(" + cmp.Or(t.test, ".*") + ")$"
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-count=1", "-failfast", "-timeout="+limit.String(), "-run="+pattern, t.name)
	cmd.Dir = filepath.Join(clone, t.module)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = end, 10*time.Second
	text, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = end()
	}
	if errors.Is(err, exec.ErrWaitDelay) { // a process that the tests left held the pipe
		err = nil
	}
	return string(text), err
}
