//go:build race

package uid_test

// many is how many ids a stress run draws. Under the race detector each costs
// some fifty times as much.
const many = 400_000
