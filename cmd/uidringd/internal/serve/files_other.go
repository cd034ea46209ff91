//go:build !unix

package serve

// openFiles reports that the system has no such limit.
func openFiles() (n int, known bool) { return 0, false }

// umask does nothing: files have no such modes.
func umask(int) (restore func()) { return func() {} }
