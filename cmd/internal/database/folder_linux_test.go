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
