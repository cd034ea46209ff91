//go:build cgo

package readme

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// TestSample builds the Go program of README.md, and runs it twice.
func TestSample(t *testing.T) {
	need.CI(t)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of Go, want 1", len(blocks))
	}
	text := []byte(blocks[0][1])
	if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
		t.Errorf("gofmt: %v", err)
	}
	folder := t.TempDir()
	source, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, worker := range []string{"1", "2"} {
		run := exec.Command(program)
		run.Dir = folder
		said, err := run.CombinedOutput()
		if err != nil || !regexp.MustCompile(`(?m)^\d{15,19} of worker `+worker+`$`).Match(said) {
			t.Errorf("%v: %s", err, said)
		}
	}
}
