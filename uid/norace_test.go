//go:build !race

package uid_test

// many is how many ids a stress run draws at the most: as many as uid-generator's
// own tests. Most runs draw a 35th of it.
const many int64 = 7_000_000
