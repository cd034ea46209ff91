package bits_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
)

// reversed moves bit i to bit 62-i, one after the other.
func reversed(id int64) int64 {
	back := id & math.MinInt64
	for i := range 63 {
		back |= id >> i & 1 << (62 - i)
	}
	return back
}

func reverses(t *rapid.T) {
	id := rapid.Int64().Draw(t, "id")
	got := bits.Reverse(id)
	if got != reversed(id) || bits.Reverse(got) != id {
		t.Fatalf("Reverse(%d) = %d, want %d; back: %d", id, got, reversed(id), bits.Reverse(got))
	}
}

func TestReverse(t *testing.T) {
	rapid.Check(t, reverses)
	for id, want := range map[int64]int64{0: 0, 1: 1 << 62, math.MaxInt64: math.MaxInt64, math.MinInt64: math.MinInt64} {
		if got := bits.Reverse(id); got != want {
			t.Errorf("Reverse(%d) = %d, want %d", id, got, want)
		}
	}
}

func FuzzReverse(f *testing.F) { f.Fuzz(rapid.MakeFuzz(reverses)) }

// Consecutive ids lie far apart.
func ExampleReverse() {
	for id := int64(962072674304); id < 962072674308; id++ {
		fmt.Println(bits.Reverse(id), bits.Reverse(bits.Reverse(id)))
	}
	// Output:
	// 58720256 962072674304
	// 4611686018486108160 962072674305
	// 2305843009272414208 962072674306
	// 6917529027699802112 962072674307
}
