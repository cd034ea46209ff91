package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

func TestMain(m *testing.M) {
	_ = os.Remove("app.db") // of a run that was killed
	status := m.Run()
	_ = os.Remove("app.db")
	os.Exit(status)
}

func Example() {
	main()
	// Output: worker 1 makes ids: true
}

// TestReadme: the Go code of README.md is that of main.go.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	need.Must(t, err)
	program, err := os.ReadFile("main.go")
	need.Must(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of Go, want 1", len(blocks))
	}
	code := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(blocks[0][1], "\t$1")
	if !strings.Contains(string(program), "\n"+code) {
		t.Errorf("main.go does not have README.md's code:\n%s", code)
	}
}
