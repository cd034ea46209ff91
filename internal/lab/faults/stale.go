//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// stale reports each fault of the working tree that is stale. It runs no test, and is done in seconds.
func stale(repository string, faults []fault, out io.Writer) (sound bool, err error) {
	folders := map[string][]fault{}
	list := exec.Command("go", "list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}")
	for _, f := range faults {
		folder := filepath.Dir(f.file)
		if folders[folder] == nil {
			list.Args = append(list.Args, "./"+folder)
		}
		folders[folder] = append(folders[folder], f)
	}
	list.Dir, list.Stderr = repository, os.Stderr
	text, err := list.Output()
	if err != nil {
		return false, err
	}
	exports := map[string]string{} // files, by import path
	for line := range strings.Lines(string(text)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	var mu sync.Mutex
	var checking errgroup.Group
	checking.SetLimit(runtime.GOMAXPROCS(0))
	found := 0
	for _, faults := range folders {
		checking.Go(func() error {
			files := token.NewFileSet()
			imports := importer.ForCompiler(files, "gc", open)
			for _, f := range faults {
				if err := f.stale(repository, files, imports); err != nil {
					mu.Lock()
					found++
					fmt.Fprintf(out, "STALE %s: %v\n", f, err)
					mu.Unlock()
				}
			}
			return nil
		})
	}
	_ = checking.Wait()
	fmt.Fprintf(out, "%d tried, %d stale\n", len(faults), found)
	return found == 0 && len(faults) > 0, nil
}

// stale returns why the fault is stale.
func (f fault) stale(repository string, files *token.FileSet, imports types.Importer) error {
	path := filepath.Join(repository, f.file)
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sed := exec.Command("sed", f.script)
	sed.Stdin = bytes.NewReader(before)
	after, err := sed.Output()
	if err != nil {
		return fmt.Errorf("sed: %w", err)
	}
	if bytes.Equal(before, after) {
		return errors.New("the script changes nothing")
	}
	for _, t := range f.targets {
		if !t.exists(repository) {
			return fmt.Errorf("%s has no test %s", t.name, t.test)
		}
	}
	return compile(path, after, files, imports)
}

func (t target) exists(repository string) bool {
	names, _ := filepath.Glob(filepath.Join(repository, t.module, t.name, "*_test.go"))
	return slices.ContainsFunc(names, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && (t.test == "" || bytes.Contains(text, []byte("\nfunc "+t.test+"(")))
	})
}

// compile checks the types of a package in which one file has another text.
func compile(path string, text []byte, files *token.FileSet, imports types.Importer) error {
	folder, replaced := filepath.Split(path)
	pkg, _ := build.ImportDir(folder, 0)
	if !slices.Contains(pkg.GoFiles, replaced) {
		return nil // a test, or not Go
	}
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		var source any // that of the file
		if name == replaced {
			source = text
		}
		file, err := parser.ParseFile(files, filepath.Join(folder, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: imports}
	_, err := config.Check(pkg.Name, files, parsed, nil)
	return err
}
