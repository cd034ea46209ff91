//go:build unix

package serve

import "syscall"

// openFiles returns how many files the process may open. Go raises the limit as far as
// the system lets it.
func openFiles() (n int, known bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 0, false
	}
	return int(limit.Cur), true
}

// umask keeps bits from the modes of files that the process makes, until restore is called.
func umask(bits int) (restore func()) {
	before := syscall.Umask(bits)
	return func() { syscall.Umask(before) }
}
