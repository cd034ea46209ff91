package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// tests are the tests of a package with one or more faults.
type tests struct {
	folder, binary string
	overlay        map[string]string
	skip           []string      // the tests that fail without a fault
	limit          time.Duration // for one run
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	failure    = regexp.MustCompile(`--- FAIL: \S+|panic: .*`)
	// The file's place in the overlay tells nothing.
	compilerError = regexp.MustCompile(`(?m)^\S+\.go:\d+:\d+: (.*)`)
)

// test runs the tests of a package with each fault.
func (r *run) test(ctx context.Context, folder string, faults []*fault) error {
	t := &tests{folder: folder, overlay: r.woven, limit: 20 * time.Minute}
	said, err := r.compile(ctx, t)
	if err != nil {
		return err
	}
	if said != "" {
		return fmt.Errorf("the tests of %s do not compile: %s", folder, said)
	}
	if err := r.pass(ctx, t); err != nil {
		return err
	}
	for _, f := range faults {
		r.mu.Lock()
		ended := f.ended
		r.mu.Unlock()
		if ended {
			continue
		}
		said, failed, stale := "", false, ""
		if !f.alone {
			said, failed, err = r.run(ctx, t, f.number, true)
		}
		if err == nil && !failed { // such a fault gets its own build, too: initializers may call the function
			said, failed, stale, err = r.alone(ctx, t, f)
		}
		if err != nil {
			return err
		}
		r.mu.Lock()
		f.left--
		switch {
		case stale != "":
			r.end(f, &r.stale, "STALE   %s (it does not compile: %s)", f, stale)
		case failed:
			how := failure.FindString(said)
			if how == "" {
				how = "the tests end with an error"
			}
			r.end(f, &r.caught, "caught  %s (%s)", f, how)
		case f.left == 0:
			r.end(f, &r.missed, "MISSED  %s", f)
		}
		r.mu.Unlock()
	}
	return nil
}

// compile makes t.binary. It returns the compiler's errors.
func (r *run) compile(ctx context.Context, t *tests) (string, error) {
	made, err := os.CreateTemp(r.scratch, "*.test")
	if err != nil {
		return "", err
	}
	t.binary = made.Name()
	_ = made.Close()
	said, failed, err := r.command(ctx, "", t.overlay, "", "go", "test", "-c", "-o", t.binary, "./"+t.folder)
	if !failed {
		said = ""
	}
	return said, err
}

// run runs the tests with a fault, or with none.
func (r *run) run(ctx context.Context, t *tests, number string, failfast bool) (said string, failed bool, err error) {
	args := []string{"-test.timeout=" + t.limit.String(), fmt.Sprintf("-test.failfast=%t", failfast)}
	if t.skip != nil {
		args = append(args, "-test.skip=^("+strings.Join(t.skip, "|")+")$")
	}
	return r.command(ctx, t.folder, t.overlay, number, t.binary, args...)
}

// pass runs the tests without a fault. Those that fail are skipped from then on.
func (r *run) pass(ctx context.Context, t *tests) error {
	for range 3 {
		began := time.Now()
		said, failed, err := r.run(ctx, t, "", false)
		if err != nil {
			return err
		}
		if !failed {
			t.limit = time.Minute + 2*time.Since(began)
			return nil
		}
		for _, match := range failedTest.FindAllStringSubmatch(said, -1) {
			t.skip = append(t.skip, match[1])
			r.mu.Lock()
			fmt.Fprintf(r.out, "SKIPPED %s of %s: it fails without a fault\n", match[1], t.folder)
			r.mu.Unlock()
		}
		if t.skip == nil {
			return fmt.Errorf("the tests of %s fail without a fault: %s", t.folder, said)
		}
	}
	return fmt.Errorf("the tests of %s fail without a fault", t.folder)
}

// alone runs the tests with a fault that has a build of its own. If it does not compile,
// stale has the compiler's first error.
func (r *run) alone(ctx context.Context, all *tests, f *fault) (said string, failed bool, stale string, err error) {
	t := &tests{folder: all.folder, overlay: maps.Clone(all.overlay), skip: all.skip, limit: all.limit}
	path := filepath.Join(r.repository, f.file)
	if strings.HasSuffix(f.file, ".go") {
		err = r.replace(t.overlay, f.file, f.text)
	} else { // a test may read it
		var was []byte
		if was, err = os.ReadFile(path); err == nil {
			err = os.WriteFile(path, f.text, 0o644)
			defer func() { err = errors.Join(err, os.WriteFile(path, was, 0o644)) }()
		}
	}
	if err != nil {
		return "", false, "", err
	}
	if stale, err = r.compile(ctx, t); err != nil || stale != "" {
		if match := compilerError.FindStringSubmatch(stale); match != nil {
			stale = match[1]
		}
		return "", false, stale, err
	}
	defer os.Remove(t.binary)
	said, failed, err = r.run(ctx, t, "", true)
	return said, failed, "", err
}
