//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
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
	"sync"
)

// stale reports each fault of the working tree that is stale. It runs no test, and is done in seconds.
func stale(repository string, faults []fault, out io.Writer) (sound bool, err error) {
	folders := map[string][]fault{}
	for _, f := range faults {
		folder, err := filepath.Abs(filepath.Join(repository, filepath.Dir(f.file)))
		if err != nil {
			return false, err
		}
		folders[folder] = append(folders[folder], f)
	}
	packages, exports, err := list(repository, folders)
	if err != nil {
		return false, err
	}
	var mu sync.Mutex
	var checking sync.WaitGroup
	found := 0
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for folder, faults := range folders {
		checking.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			c := compiler{files: token.NewFileSet(), pkg: packages[folder], exports: exports}
			c.importer = importer.ForCompiler(c.files, "gc", c.open)
			for _, f := range faults {
				if err := f.stale(repository, &c); err != nil {
					mu.Lock()
					found++
					fmt.Fprintf(out, "STALE %s: %v\n", f, err)
					mu.Unlock()
				}
			}
		})
	}
	checking.Wait()
	fmt.Fprintf(out, "%d tried, %d stale\n", len(faults), found)
	return found == 0 && len(faults) > 0, nil
}

// stale returns why the fault is stale.
func (f fault) stale(repository string, c *compiler) error {
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
	return c.check(filepath.Base(path), after)
}

func (t target) exists(repository string) bool {
	names, _ := filepath.Glob(filepath.Join(repository, t.module, t.name, "*_test.go"))
	return slices.ContainsFunc(names, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && (t.test == "" || bytes.Contains(text, []byte("\nfunc "+t.test+"(")))
	})
}

// listed is a package as go list knows it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// list returns the packages by their folders, and the files of exports by import path.
func list(repository string, folders map[string][]fault) (packages map[string]listed, exports map[string]string, err error) {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles")
	for folder := range folders {
		cmd.Args = append(cmd.Args, folder)
	}
	cmd.Dir, cmd.Stderr = repository, os.Stderr
	text, err := cmd.Output()
	packages, exports = map[string]listed{}, map[string]string{}
	for all := json.NewDecoder(bytes.NewReader(text)); err == nil; {
		var l listed
		if err = all.Decode(&l); err == nil {
			packages[l.Dir], exports[l.ImportPath] = l, l.Export
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return packages, exports, err
}

// compiler checks the types of a package in which one file is replaced.
type compiler struct {
	pkg      listed
	exports  map[string]string
	files    *token.FileSet
	importer types.Importer
	parsed   map[string]*ast.File
}

func (c *compiler) open(path string) (io.ReadCloser, error) { return os.Open(c.exports[path]) }

func (c *compiler) check(replaced string, text []byte) error {
	if !slices.Contains(c.pkg.GoFiles, replaced) {
		return nil // a test, or not Go
	}
	parse := func(name string, text any) (*ast.File, error) {
		return parser.ParseFile(c.files, filepath.Join(c.pkg.Dir, name), text, parser.SkipObjectResolution)
	}
	if c.parsed == nil {
		c.parsed = map[string]*ast.File{}
		for _, name := range c.pkg.GoFiles {
			file, err := parse(name, nil)
			if err != nil {
				return err
			}
			c.parsed[name] = file
		}
	}
	var files []*ast.File
	for name, file := range c.parsed {
		if name == replaced {
			var err error
			if file, err = parse(name, text); err != nil {
				return err
			}
		}
		files = append(files, file)
	}
	config := types.Config{Importer: c.importer}
	_, err := config.Check(c.pkg.ImportPath, c.files, files, nil)
	return err
}
