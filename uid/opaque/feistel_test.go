package opaque

import "testing"

// On domains small enough to walk through, odd ones and even, each number is the
// image of exactly one.
func TestFeistelIsAPermutation(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	derived, err := ciphers(forPermutations, "orders", key)
	if err != nil {
		t.Fatal(err)
	}
	for width := uint(2); width <= 13; width++ {
		f := feistel{derived[0], width}
		from := make(map[uint64]uint64)
		moved := 0
		for n := range uint64(1) << width {
			image := f.permute(n)
			if image>>width != 0 {
				t.Fatalf("%d bits: %d goes to %d, which has more", width, n, image)
			}
			if other, taken := from[image]; taken {
				t.Fatalf("%d bits: %d and %d both go to %d", width, other, n, image)
			}
			from[image] = n
			if image != n {
				moved++
			}
			if back := f.restore(image); back != n {
				t.Fatalf("%d bits: %d goes to %d and back to %d", width, n, image, back)
			}
		}
		if width > 4 && moved < 1<<(width-1) {
			t.Errorf("%d bits: %d numbers moved", width, moved)
		}
	}
}
