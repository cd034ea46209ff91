package ringbuffer

// Total returns how many ids runs have.
func Total(runs []Run) (n int64) {
	for _, run := range runs {
		n += run.N
	}
	return n
}

// Least returns the least id of runs, or -1.
func Least(runs []Run) int64 {
	if len(runs) == 0 {
		return -1
	}
	return runs[0].First
}
