// Package sums has faults put into it.
package sums

func sum(of ...int) (total int) {
	for _, n := range of {
		total += n
	}
	return total
}

func empty() bool { return true }
