// Command api compares the exported API of every package with testdata/api, so
// that nobody changes the API by mistake.
//
//	go run ./internal/api      fails if the API differs from what is written
//	go run ./internal/api -w   writes it (make api)
//
// Packages below internal and cmd are for this repository alone, and left out.
package main

import (
	"errors"
	"flag"
	"fmt"
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
	into, err := folder, error(nil)
	if write {
		err = os.RemoveAll(folder)
	} else if into, err = os.MkdirTemp("", "api-"); err == nil {
		defer os.RemoveAll(into)
	}
	if err != nil {
		return err
	}
	count, err := list(into)
	if err != nil || write {
		return err
	}
	diff := exec.Command("diff", "-ruN", folder, into)
	diff.Stdout, diff.Stderr = os.Stderr, os.Stderr
	if diff.Run() != nil {
		return fmt.Errorf("the exported API is not what %s says: if it is meant to be, run make api and add a line to CHANGELOG.md", folder)
	}
	fmt.Printf("the exported API of %d packages is as %s says\n", count, folder)
	return nil
}

// list writes the API of each package to a file below into, and counts them.
func list(into string) (count int, err error) {
	modules, err := modules()
	if err != nil {
		return 0, err
	}
	for _, module := range modules {
		packages, err := load(module)
		if err != nil {
			return 0, err
		}
		for _, p := range packages {
			name := filepath.Join(into, filepath.FromSlash(strings.TrimPrefix(p.Path(), root))+".txt")
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, describe(p), 0o666)); err != nil {
				return 0, err
			}
			count++
		}
	}
	return count, nil
}

// modules returns the folders of the modules whose packages others can import.
func modules() (folders []string, err error) {
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"internal", "cmd", "testdata"}, entry.Name())):
			return filepath.SkipDir
		case entry.Name() == "go.mod":
			folders = append(folders, filepath.Dir(path))
		}
		return nil
	})
	return folders, err
}
