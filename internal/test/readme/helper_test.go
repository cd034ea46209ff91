// Package readme has no code, only tests that hold README.md to its word.
package readme

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
)

// top is the folder of the module.
var top, topErr = filepath.Abs("../../..")

// read returns a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	if topErr != nil {
		t.Fatal(topErr)
	}
	text, err := os.ReadFile(filepath.Join(top, name))
	need.Must(t, err)
	return string(text)
}

// firstID returns the least id of an instant, in the layout fleet.
func firstID(t *testing.T, at time.Time) int64 {
	t.Helper()
	ids, err := bits.NewAllocator(bits.Fleet())
	need.Must(t, err)
	id, err := ids.FirstID(at)
	need.Must(t, err)
	return id
}
