// Package sums has faults put into it.
package sums

const least = 1

// atStart is made by a function before any test runs.
var atStart = sum(0, least, 2)

type list[T any] []T

func (list[T]) Empty(_ int, _ ...T) (empty bool) { return true }

func sum(_ int, of ...int) (total int) {
	for _, n := range of {
		total += n
	}
	return
}

func forgotten() int { return 1 }
