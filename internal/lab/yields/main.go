// Command yields writes an overlay for `go test -overlay` in which the statements of some
// packages yield at random. Two goroutines then often meet within a few instructions:
//
//	go run ./internal/lab/yields FOLDER ./uid ./padding ./ringbuffer
//	go test -overlay FOLDER/overlay.json ./uid
//
// The rewritten files and overlay.json are in FOLDER.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
)

// One of four statements yields. More would only slow the tests down.
const yield = `
import (
	"math/rand/v2"
	"runtime"
)

func maybeYield() {
	if rand.Uint32()%4 == 0 {
		runtime.Gosched()
	}
}
`

func main() {
	if err := rewrite(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "yields:", err)
		os.Exit(1)
	}
}

func rewrite(folder string, packages []string) error {
	replace := map[string]string{}
	write := func(original, text string) error {
		original, err := filepath.Abs(original)
		if err != nil {
			return err
		}
		replace[original] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		return os.WriteFile(replace[original], []byte(text), 0o600)
	}
	for _, dir := range packages {
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			return err
		}
		for _, name := range pkg.GoFiles {
			text, err := addYields(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if err := write(filepath.Join(dir, name), text); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(dir, "yields.go"), "package "+pkg.Name+"\n"+yield); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600)
}

// addYields returns a file with a call before each statement. The lines keep their numbers.
func addYields(name string) (text string, err error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var places []int
	before := func(list []ast.Stmt) {
		for _, s := range list {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause:
			default:
				places = append(places, set.Position(s.Pos()).Offset)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			before(n.List)
		case *ast.CaseClause:
			before(n.Body)
		case *ast.CommClause:
			before(n.Body)
		}
		return true
	})
	slices.Sort(places)
	for _, at := range slices.Backward(places) {
		source = slices.Insert(source, at, []byte("maybeYield(); ")...)
	}
	return string(source), nil
}
