package database_test

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A file that cannot be made is an error that names the folder. SQLite itself would say
// "no such file or directory".
func TestOpenInForbiddenFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Chmod(".", 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // this thread accesses files as nobody
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	_, err := open(t, "new.db")
	if want := `no file can be made in folder ".": permission denied`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A FIFO is no file of SQLite, and is not opened: that would wait for its writer.
func TestOpenFIFO(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]string{"fifo.db": "want a regular file", "fifo": "neither an SQLite file"} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
