// Package readme has no code, only tests that hold README.md to its word.
package readme

import (
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
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

// top is the folder of the module.
var top = filepath.Join(root, "../../..")

// read returns a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	if rootErr != nil {
		t.Fatal(rootErr)
	}
	text, err := os.ReadFile(filepath.Join(top, name))
	need.Must(t, err)
	return string(text)
}

// firstID returns the least id of an instant, in the default layout.
func firstID(t *testing.T, at time.Time) int64 {
	t.Helper()
	ids, err := bits.NewAllocator(bits.Default())
	need.Must(t, err)
	id, err := ids.FirstID(at)
	need.Must(t, err)
	return id
}
