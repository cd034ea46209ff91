package bits

import (
	"math"
	"math/bits"
)

// Reverse returns id with its lower 63 bits in reverse order. Applied twice, it returns id. The
// sign stays, so the reverse of an id is never negative, and 0 stays 0.
//
// Reversed ids spread evenly over the number range: see [docs/databases.md] for databases that
// need this, and for what you lose. Spanner's BIT_REVERSE(id, TRUE) is the same.
//
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md#databases-that-shard-by-range
func Reverse(id int64) int64 {
	return id&math.MinInt64 | int64(bits.Reverse64(uint64(id))>>1)
}
