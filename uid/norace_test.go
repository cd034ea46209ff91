//go:build !race

package uid_test

// many is how many ids a stress run draws: as many as uid-generator's own tests.
const many = 7_000_000
