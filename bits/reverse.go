package bits

import (
	"math"
	"math/bits"
)

// Reverse returns id with its lower 63 bits in reverse order. It is its own inverse. The sign bit
// is left alone, so the reverse of an id is never negative, and the reverse of 0 is 0.
//
// Reversed ids spread evenly over their range. See [docs/databases.md] for databases that need
// this, and for the drawbacks. Spanner's BIT_REVERSE(id, TRUE) returns the same value.
//
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md#databases-that-shard-by-range
func Reverse(id int64) int64 {
	return id&math.MinInt64 | int64(bits.Reverse64(uint64(id))>>1)
}
