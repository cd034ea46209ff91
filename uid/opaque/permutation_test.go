package opaque_test

import (
	"errors"
	"math"
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
