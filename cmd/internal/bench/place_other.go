//go:build !linux

package bench

// place leaves the thread where it is: there is no portable way to move it.
func place(int) {}
