//go:build linux && race

package serve

// raced is 1 if the race detector is on.
const raced = 1
