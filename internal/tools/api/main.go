// Command api compares the exported API of every package with testdata/api, on each
// system that users have, so that nobody changes the API by mistake. It fails, too, if
// a package or a test does not compile on one of them.
//
//	go run ./internal/tools/api      fails if the API differs from what is written
//	go run ./internal/tools/api -w   writes it (make api)
//
// Packages below internal and cmd must compile. Their API is for this repository alone,
// and left out.
//
// It is a module of its own, so that an app that links uidring does not download what
// loads packages.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	root   = "github.com/uidring/uidring/"
	folder = "testdata/api"
)

// systems are the common ones, and one with ints of 32 bits.
var systems = []string{"linux/amd64", "linux/386", "windows/amd64", "darwin/arm64"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("api: ")
	write := flag.Bool("w", false, "write the API instead of comparing it")
	flag.Parse()
	if err := run(*write); err != nil {
		log.Fatal(err)
	}
}

func run(write bool) error {
	modules, err := modules()
	if err != nil {
		return err
	}
	for i, system := range systems {
		packages, err := load(system, modules)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		if write && i == 0 {
			if err := errors.Join(os.RemoveAll(folder), describeAll(packages, folder)); err != nil {
				return err
			}
		}
		if err := compare(packages); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		fmt.Printf("%s: all packages compile, and the exported API of %d is as %s says\n", system, len(packages), folder)
	}
	return nil
}

// compare compares the API of packages with what is written.
func compare(packages []*types.Package) error {
	found, err := os.MkdirTemp("", "api-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(found)
	if err := describeAll(packages, found); err != nil {
		return err
	}
	diff := exec.Command("diff", "-ruN", folder, found)
	diff.Stdout, diff.Stderr = os.Stderr, os.Stderr
	if diff.Run() != nil {
		return fmt.Errorf("the exported API is not what %s says: if it is meant to be, run make api and add a line to CHANGELOG.md", folder)
	}
	return nil
}

// describeAll writes the API of each package to a file below into.
func describeAll(packages []*types.Package, into string) error {
	for _, p := range packages {
		name := filepath.Join(into, filepath.FromSlash(strings.TrimPrefix(p.Path(), root))+".txt")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, describe(p), 0o666)); err != nil {
			return err
		}
	}
	return nil
}

// others are folders of modules that no release tags.
var others = []string{"internal", "testdata", "browsertest", "deploy"}

// modules returns the folders of the modules that others can import or install.
func modules() (folders []string, err error) {
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(others, entry.Name())):
			return filepath.SkipDir
		case entry.Name() == "go.mod":
			folders = append(folders, filepath.Dir(path))
		}
		return nil
	})
	return folders, err
}
