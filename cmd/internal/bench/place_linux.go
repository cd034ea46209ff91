package bench

import "golang.org/x/sys/unix"

// place moves the calling thread to the i-th of the cores that it may use, and
// then lets it go wherever it may again: what blocks and wakes during a sample
// is the kernel's to place. Where that cannot be done, nothing is.
func place(i int) {
	var allowed, one unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil || allowed.Count() == 0 {
		return
	}
	core := 0
	for skip := i % allowed.Count(); skip > 0 || !allowed.IsSet(core); core++ {
		if allowed.IsSet(core) {
			skip--
		}
	}
	one.Set(core)
	if unix.SchedSetaffinity(0, &one) != nil {
		return
	}
	// The old set was good a moment ago.
	_ = unix.SchedSetaffinity(0, &allowed)
}
