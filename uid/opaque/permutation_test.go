package opaque_test

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

func TestPermutationThereAndBack(t *testing.T) {
	p := permutation(t, "orders", key(1))
	for _, n := range []int64{0, 1, math.MaxInt32, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 62, math.MaxInt64} {
		image, err := p.Permute(uid.ID(n))
		if back, berr := p.Restore(image); image < 0 || back != uid.ID(n) || err != nil || berr != nil {
			t.Errorf("%d goes to %d, %v, and back to %d, %v", n, image, err, back, berr)
		}
		// The other way round: there is an id to every number.
		id, err := p.Restore(n)
		if back, berr := p.Permute(id); id < 0 || back != n || err != nil || berr != nil {
			t.Errorf("%d restores to %d, %v, and goes back to %d, %v", n, id, err, back, berr)
		}
	}
	for _, n := range []int64{-1, math.MinInt64} {
		if image, err := p.Permute(uid.ID(n)); image != 0 || !errors.Is(err, opaque.ErrNegative) || !strings.Contains(err.Error(), uid.ID(n).String()) {
			t.Errorf("Permute(%d) = %d, %v", n, image, err)
		}
		if id, err := p.Restore(n); id != 0 || !errors.Is(err, opaque.ErrNegative) || !strings.Contains(err.Error(), uid.ID(n).String()) {
			t.Errorf("Restore(%d) = %d, %v", n, id, err)
		}
	}
}

// Of ids that lie together, those of one second, nothing is seen: neither order
// nor high bits. The bounds are six standard deviations wide.
func TestPermutationHidesWhatIsNear(t *testing.T) {
	const count = 4096
	p := permutation(t, "orders", key(1))
	var numbers []int64
	var ones [63]int
	changed := 0
	for i := range uid.ID(count) {
		n, err := p.Permute(anID + i)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range ones {
			ones[bit] += int(n >> bit & 1)
		}
		if i > 0 {
			changed += bits.OnesCount64(uint64(n ^ numbers[i-1]))
		}
		numbers = append(numbers, n)
	}
	for bit, n := range ones {
		if n < count/2-192 || n > count/2+192 { // sqrt(4096)/2 = 32
			t.Errorf("bit %d is set in %d of %d numbers", bit, n, count)
		}
	}
	if mean := float64(changed) / (count - 1); mean < 31.5-0.4 || mean > 31.5+0.4 { // sqrt(63)/2/64 = 0.062
		t.Errorf("from one to the next %.2f bits change, want 31.5", mean)
	}
	if slices.IsSorted(numbers) {
		t.Error("numbers sort as the ids do")
	}
}

// A context and a key each have a permutation of their own, and a Sealer's key is
// another than a Permutation's.
func TestPermutationsDiffer(t *testing.T) {
	numbers := make(map[int64]string)
	for _, context := range []string{"orders", "order", "users", "orders\x00", "ORDERS"} {
		for k := range byte(5) {
			n, err := permutation(t, context, key(k)).Permute(anID)
			if other, taken := numbers[n]; taken || err != nil {
				t.Errorf("%q with key %d has the number of %s, %v", context, k, other, err)
			}
			numbers[n] = context
		}
	}
	if ref := newReference("orders", key(1)); slices.Equal(ref.token, ref.number) {
		t.Error("tokens and numbers have one key")
	}
}
