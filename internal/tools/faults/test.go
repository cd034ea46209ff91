package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tests are the tests of a package with one or more faults.
type tests struct {
	folder, binary string
	overlay        map[string]string
	skip           []string                 // the tests that fail without a fault
	passed         string                   // what has run without a fault: a pattern of tests, or all
	limit          time.Duration            // for one run
	took           map[string]time.Duration // each test without a fault
}

var (
	failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	passedTest = regexp.MustCompile(`(?m)^--- PASS: (\S+) \((\S+)\)`)
	hangs      = regexp.MustCompile(`panic: test timed out after \S+\n\s+running tests:\n\s+(Test\w+)`)
	panics     = regexp.MustCompile(`(?m)^(?:created by )?[\w./-]+\.(Test[A-Z]\w*)(?:\.[\w.]+)?(?:\(| in goroutine)`)
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
	for _, f := range faults {
		if err := r.catch(ctx, t, f, firsts(folder, faults)); err != nil {
			return err
		}
	}
	return nil
}

// all is the pattern of all tests.
const all = "."

// firsts returns the pattern of the tests that run first in a folder.
func firsts(folder string, faults []*fault) string {
	var names []string
	for _, f := range faults {
		if test := f.in(folder).test; test != "" && !slices.Contains(names, test) {
			names = append(names, test)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// catch runs the tests with a fault: first the one that is said to catch it.
func (r *run) catch(ctx context.Context, t *tests, f *fault, firsts string) error {
	patterns := []string{all}
	if test := f.in(t.folder).test; test != "" && !slices.Contains(t.skip, test) {
		patterns = []string{"^" + test + "$", all}
	}
	for _, pattern := range patterns {
		r.mu.Lock()
		ended := f.ended
		r.mu.Unlock()
		if ended {
			return nil
		}
		clean := firsts
		if pattern == all {
			clean = all
		}
		if err := r.pass(ctx, t, clean); err != nil {
			return err
		}
		said, failed, stale, err := r.with(ctx, t, f, pattern)
		if err != nil {
			return err
		}
		r.mu.Lock()
		switch {
		case stale != "":
			r.end(f, &r.stale, "STALE   %s (it does not compile: %s)", f, stale)
		case failed:
			how := failure.FindString(said)
			if how == "" {
				how = "the tests end with an error"
			}
			if name := culprit(said); name != "" {
				f.in(t.folder).test = name
			}
			r.end(f, &r.caught, "caught  %s (%s)", f, how)
		case pattern == all:
			f.in(t.folder).test = ""
			if f.left--; f.left == 0 {
				r.end(f, &r.missed, "MISSED  %s", f)
			}
		}
		r.mu.Unlock()
	}
	return nil
}

// culprit returns the test that failed, ran when the time was up, or called what panicked.
// It returns "" if it finds none.
func culprit(said string) string {
	for _, pattern := range []*regexp.Regexp{failedTest, hangs, panics} {
		for _, match := range pattern.FindAllStringSubmatch(said, -1) {
			if match[1] != "TestMain" {
				return match[1]
			}
		}
	}
	return ""
}

// limitOf returns how long the tests of a pattern may run with a fault.
func (t *tests) limitOf(pattern string) time.Duration {
	if took, one := t.took[strings.Trim(pattern, "^$")]; one {
		return min(t.limit, 30*time.Second+4*took)
	}
	return t.limit
}

// compile makes t.binary. It returns the compiler's errors.
func (r *run) compile(ctx context.Context, t *tests) (said string, err error) {
	if t.binary, err = r.make("*.test", nil); err != nil {
		return "", err
	}
	said, failed, err := r.command(ctx, "", t.overlay, "", "go", "test", "-c", "-o", t.binary, "./"+t.folder)
	if !failed {
		said = ""
	}
	return said, err
}

// run runs the tests of a pattern with a fault, or with none.
func (r *run) run(ctx context.Context, t *tests, number, pattern string, failfast bool) (said string, failed bool, err error) {
	args := []string{"-test.timeout=" + t.limitOf(pattern).String(), fmt.Sprintf("-test.failfast=%t", failfast), "-test.run=" + pattern}
	if number == "" && !failfast {
		args = append(args, "-test.v")
	}
	if t.skip != nil {
		args = append(args, "-test.skip=^("+strings.Join(t.skip, "|")+")$")
	}
	return r.command(ctx, t.folder, t.overlay, number, t.binary, args...)
}

// pass runs the tests of a pattern without a fault, unless they have run. Those that fail
// are skipped from then on.
func (r *run) pass(ctx context.Context, t *tests, pattern string) error {
	if t.passed == pattern || t.passed == all {
		return nil
	}
	for range 3 {
		t.limit = 20 * time.Minute
		began := time.Now()
		said, failed, err := r.run(ctx, t, "", pattern, false)
		if err != nil {
			return err
		}
		if !failed {
			t.limit, t.passed, t.took = time.Minute+2*time.Since(began), pattern, make(map[string]time.Duration)
			for _, match := range passedTest.FindAllStringSubmatch(said, -1) {
				t.took[match[1]], _ = time.ParseDuration(match[2])
			}
			return nil
		}
		known := len(t.skip)
		for _, match := range failedTest.FindAllStringSubmatch(said, -1) {
			t.skip = append(t.skip, match[1])
			r.mu.Lock()
			fmt.Fprintf(r.out, "SKIPPED %s of %s: it fails without a fault\n", match[1], t.folder)
			r.mu.Unlock()
		}
		if len(t.skip) == known {
			return fmt.Errorf("the tests of %s fail without a fault: %s", t.folder, said)
		}
	}
	return fmt.Errorf("the tests of %s fail without a fault", t.folder)
}

// with runs the tests with a fault. One that passes them gets a build of its own, too:
// initializers may call the function. If that does not compile, stale has the compiler's
// first error.
func (r *run) with(ctx context.Context, t *tests, f *fault, pattern string) (said string, failed bool, stale string, err error) {
	if !f.alone {
		said, failed, err = r.run(ctx, t, f.number, pattern, true)
		if failed || err != nil || pattern != all {
			return said, failed, "", err
		}
	}
	own := *t
	own.overlay = maps.Clone(t.overlay)
	path := filepath.Join(r.repository, f.file)
	if strings.HasSuffix(f.file, ".go") {
		err = r.replace(own.overlay, f.file, f.text)
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
	if stale, err = r.compile(ctx, &own); err != nil || stale != "" {
		if match := compilerError.FindStringSubmatch(stale); match != nil {
			stale = match[1]
		}
		return "", false, stale, err
	}
	defer os.Remove(own.binary)
	said, failed, err = r.run(ctx, &own, "", pattern, true)
	return said, failed, "", err
}
