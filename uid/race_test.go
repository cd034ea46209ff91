//go:build race

package uid_test

// many is how many ids a stress run draws at the most. Under the race detector
// each costs some fifty times as much.
const many int64 = 400_000
