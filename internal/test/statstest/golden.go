package statstest

import (
	"bytes"
	"os"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// Golden compares what was printed with a file, or writes the file anew with UIDRING_UPDATE=1.
func Golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if os.Getenv("UIDRING_UPDATE") != "" {
		need.Must(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	need.Must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant that of %s, to be written anew with UIDRING_UPDATE=1", got, path)
	}
}
