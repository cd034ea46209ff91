//go:build !race

package worker_test

const raced = false // the race detector is off
