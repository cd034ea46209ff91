package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"
)

func TestDescribe(t *testing.T) {
	const source = `package p

const Most = 3

var Default = &Config{}

type (
	Config struct {
		Name string
		hidden int
	}
	Size   int
	Alias  = Config
	Opener interface{ Open(name string) (*Config, error) }
)

func (c *Config) Check() error { return nil }
func (s Size) String() string  { return "" }
func (s Size) hide()           {}
func New(n int) *Config        { return nil }
func hidden()                  {}
`
	const want = `package p

type Alias = Config struct
	Name string
	and unexported fields
	func (*Alias) Check() error
type Config struct
	Name string
	and unexported fields
	func (*Config) Check() error
var Default *Config
const Most untyped int = 3
func New(n int) *Config
type Opener interface
	Open(name string) (*Config, error)
type Size int
	func (Size) String() string
`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check("p", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(describe(p)); got != want {
		t.Errorf("described as\n%s\nwant\n%s", got, want)
	}
}

// A package or a test that does not compile on a system is an error there.
func TestLoad(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.FromSlash(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module "+root+"m\n\ngo 1.25\n")
	write("p.go", "package m\n\nconst Most = 1 << 40\n")
	write("p_test.go", "package m\n\nvar most int = Most\n")
	write("p_windows.go", "package m\n\nvar wrong int = Least\n")
	for system, good := range map[string]bool{"linux/amd64": true, "linux/386": false, "windows/amd64": false, "darwin/arm64": true} {
		packages, err := load(system, []string{"."})
		if (err == nil) != good || good && (len(packages) != 1 || packages[0].Path() != root+"m") {
			t.Errorf("%s: %v, %v", system, packages, err)
		}
	}
}
