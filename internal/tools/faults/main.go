// Command faults puts faults into the code, and checks that the tests of the named
// packages catch each:
//
//	faults [-only TEXT] [-w] testdata/faults.txt
//
// It works on a scratch clone of the HEAD of the repository in the working directory.
// Each line of the list is a fault: FILE, PACKAGES (relative to FILE's module, with blanks
// between) and a sed script that changes FILE, separated by tabs. Lines that begin with #
// are comments.
//
// A package may name the test that catches the fault, as PACKAGE:TEST. That test runs
// first. Only if it passes, all tests of the package run. With -w, faults writes the tests
// that failed into the list.
//
// The faults that change functions are built in at once. Each is a copy of its function,
// which the function calls if the environment variable UIDRING_FAULT has the fault's
// number. Each other fault is a build of its own.
//
// A fault is caught if the tests fail, or do not end: all of a package in a minute more than
// twice their time without a fault, and one test in half a minute more than four times its
// time. A fault is stale if its script changes nothing, or the result does not compile. A
// test that fails without a fault is skipped, and named. With a fault that is missed or
// stale, the exit status is 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	only := flag.String("only", "", "check only faults whose `FILE: SCRIPT` has this text")
	write := flag.Bool("w", false, "write the tests that catch the faults into the list")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	sound, err := clone(ctx, flag.Arg(0), *only, *write)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || !sound {
		os.Exit(1)
	}
}

// clone checks the faults of a list on a clone of the repository in the working directory,
// and reports whether all are caught.
func clone(ctx context.Context, list, only string, write bool) (bool, error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return false, err
	}
	faults, err := parse(string(text), only)
	if err != nil {
		return false, fmt.Errorf("%s: %w", list, err)
	}
	scratch, err := os.MkdirTemp("", "faults")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(scratch)
	repository := filepath.Join(scratch, "repository")
	if said, err := exec.CommandContext(ctx, "git", "clone", "-q", ".", repository).CombinedOutput(); err != nil {
		return false, fmt.Errorf("git clone: %w: %s", err, said)
	}
	r := &run{repository: repository, scratch: scratch, faults: faults, out: os.Stdout}
	sound, err := r.check(ctx)
	if write {
		err = errors.Join(err, os.WriteFile(list, []byte(rewrite(string(text), faults)), 0o644))
	}
	return sound, err
}
