package database_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// A file that cannot be made is an error that names the folder. SQLite itself would say
// "no such file or directory".
func TestOpenInForbiddenFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	need.Must(t, os.Chmod(".", 0o555))
	if os.Geteuid() == 0 { // this thread accesses files as nobody
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		need.Must(t, syscall.Setfsuid(65534))
		defer syscall.Setfsuid(0)
	}
	_, err := open(t, "new.db")
	need.Error(t, err, nil, `cannot create a file in directory ".": permission denied`)
}

// A FIFO is refused without being opened, since opening it would wait for a writer.
func TestOpenFIFO(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]string{"fifo.db": "want a regular file", "fifo": "not an SQLite file"} {
		need.Must(t, syscall.Mkfifo(path, 0o600))
		_, err := open(t, path)
		need.Error(t, err, nil, path, want)
	}
}
