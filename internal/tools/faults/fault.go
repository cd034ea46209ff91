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
	file, script string   // the file is relative to the repository
	packages     []string // relative to the repository
	number       string   // the value of UIDRING_FAULT

	text  []byte // the file with the fault
	alone bool   // the fault has a build of its own
	left  int    // packages whose tests have not run
	ended bool   // the fault is reported
}

func (f *fault) String() string { return f.file + ": " + f.script }

// parse reads a list. It returns the faults that have the text only.
func parse(list, only string) (faults []*fault, err error) {
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.SplitN(line, "\t", 3)
		if len(part) < 3 || len(strings.Fields(part[1])) == 0 {
			return nil, fmt.Errorf("a line has FILE, PACKAGES and SCRIPT with tabs between, got %q", line)
		}
		f := &fault{file: part[0], packages: strings.Fields(part[1]), script: part[2], number: strconv.Itoa(len(faults) + 1)}
		if strings.Contains(f.String(), only) {
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// apply sets f.text and makes f.packages relative to the repository. If the fault is
// stale, apply says why.
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
	for i, name := range f.packages {
		f.packages[i] = filepath.Join(module, name)
	}
	f.left = len(f.packages)
	return ""
}
