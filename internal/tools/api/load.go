package main

import (
	"errors"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load returns the packages of the modules that others can import, as they are on a
// system. It reads all sources: nothing is compiled.
func load(system string, modules []string) ([]*types.Package, error) {
	goos, goarch, _ := strings.Cut(system, "/")
	var patterns []string
	for _, module := range modules {
		patterns = append(patterns, "./"+module+"/...")
	}
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
		Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(list) > 0 {
		return nil, errors.New("the packages do not compile")
	}
	var public []*types.Package
	for _, p := range list {
		if p.Name != "main" && p.ID == p.PkgPath && !private(p.PkgPath) { // the IDs of tests differ from their paths
			public = append(public, p.Types)
		}
	}
	return public, nil
}

// private reports whether a package is for this repository alone.
func private(path string) bool {
	path = strings.TrimPrefix(path, root) + "/"
	return strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "internal/") || strings.Contains(path, "/internal/")
}
