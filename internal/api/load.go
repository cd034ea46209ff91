package main

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// load returns the packages of a module that others can import. Their types come from
// what the compiler exports.
func load(module string) ([]*types.Package, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Name}}\t{{.DepOnly}}", "./...")
	list.Dir = module
	list.Env = append(os.Environ(), "CGO_ENABLED=0") // so that no C compiler is needed
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", module, err, &stderr)
	}
	exports := make(map[string]string)
	var paths []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		path, file, name, dependency := fields[0], fields[1], fields[2], fields[3] == "true"
		exports[path] = file
		if !dependency && file != "" && name != "main" && !private(path) {
			paths = append(paths, path)
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	packages := make([]*types.Package, len(paths))
	for i, path := range paths {
		if packages[i], err = imports.Import(path); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// private reports whether a package is for this repository alone.
func private(path string) bool {
	path = strings.TrimPrefix(path, root) + "/"
	return strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "internal/") || strings.Contains(path, "/internal/")
}
