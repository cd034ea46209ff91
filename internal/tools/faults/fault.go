package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// fault is one line of the list.
type fault struct {
	file, script string // the file is relative to the repository
	targets      []target
	number       string // the value of UIDRING_FAULT
	line         int    // in the list, from 0

	text  []byte // the file with the fault
	alone bool   // the fault has a build of its own
	left  int    // packages whose tests have not run
	ended bool   // the fault is reported
}

// target is a package whose tests have to catch a fault.
type target struct {
	name   string // relative to the fault's module
	test   string // the test that runs first; empty if all run
	folder string // of the package, relative to the repository
}

func (f *fault) String() string { return f.file + ": " + f.script }

// in returns the target of f in a folder.
func (f *fault) in(folder string) *target {
	for i := range f.targets {
		if f.targets[i].folder == folder {
			return &f.targets[i]
		}
	}
	return nil
}

// parse reads a list. It returns the faults that have the text only.
func parse(list, only string) (faults []*fault, err error) {
	for i, line := range strings.Split(list, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.SplitN(line, "\t", 3)
		if len(part) < 3 || len(strings.Fields(part[1])) == 0 {
			return nil, fmt.Errorf("a line has FILE, PACKAGES and SCRIPT with tabs between, got %q", line)
		}
		f := &fault{file: part[0], script: part[2], number: strconv.Itoa(len(faults) + 1), line: i}
		for _, field := range strings.Fields(part[1]) {
			name, test, _ := strings.Cut(field, ":")
			f.targets = append(f.targets, target{name: name, test: test})
		}
		if strings.Contains(f.String(), only) {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// rewrite returns a list with the tests of faults.
func rewrite(list string, faults []*fault) string {
	lines := strings.Split(list, "\n")
	for _, f := range faults {
		var fields []string
		for _, t := range f.targets {
			fields = append(fields, strings.TrimSuffix(t.name+":"+t.test, ":"))
		}
		lines[f.line] = strings.Join([]string{f.file, strings.Join(fields, " "), f.script}, "\t")
	}
	return strings.Join(lines, "\n")
}

// apply sets f.text and the folders of f.targets. If the fault is stale, apply says why.
func (f *fault) apply(repository string) (stale string) {
	path := filepath.Join(repository, f.file)
	was, err := os.ReadFile(path)
	if err != nil {
		return "there is no such file"
	}
	sed := exec.Command("sed", f.script)
	sed.Stdin = bytes.NewReader(was)
	var said strings.Builder
	sed.Stderr = &said
	if f.text, err = sed.Output(); err != nil {
		return strings.TrimSpace(said.String())
	}
	if bytes.Equal(was, f.text) {
		return "it changes nothing"
	}
	module := filepath.Dir(f.file)
	for module != "." {
		if _, err := os.Stat(filepath.Join(repository, module, "go.mod")); err == nil {
			break
		}
		module = filepath.Dir(module)
	}
	for i := range f.targets {
		f.targets[i].folder = filepath.Join(module, f.targets[i].name)
	}
	f.left = len(f.targets)
	return ""
}
