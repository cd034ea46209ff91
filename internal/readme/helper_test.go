package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The examples make a file, so they run in a directory of their own.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "readme")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Chdir(dir); err != nil {
			log.Fatal(err)
		}
		return m.Run()
	}())
}

// root is the folder of this package, kept before TestMain leaves it.
var root, rootErr = os.Getwd()

// read returns a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	if rootErr != nil {
		t.Fatal(rootErr)
	}
	text, err := os.ReadFile(root + "/../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// codeOfREADME returns the blocks of Go in README.md: one with cgo, one without.
func codeOfREADME(t *testing.T) []string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(blocks) != 2 {
		t.Fatalf("README.md has %d blocks of Go, want 2", len(blocks))
	}
	return []string{strings.TrimSpace(blocks[0][1]), strings.TrimSpace(blocks[1][1])}
}

// bodyOf returns the body of an example in a file of this package, without its
// output.
func bodyOf(t *testing.T, name, example string) string {
	t.Helper()
	source := read(t, "internal/readme/"+name)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == example {
			body := source[files.Position(f.Body.Lbrace).Offset+1 : files.Position(f.Body.Rbrace).Offset]
			body, _, _ = strings.Cut(body, "\t// Output:")
			lines := strings.Split(body, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "\t")
			}
			return strings.TrimSpace(strings.Join(lines, "\n"))
		}
	}
	t.Fatalf("%s has no %s", name, example)
	return ""
}
