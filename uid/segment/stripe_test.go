package segment

import (
	"math"
	"testing"
)

// A stripe maps counts to ids one to one and upwards, and the stripes together to
// all ids.
func TestStripeMapsCounts(t *testing.T) {
	for _, of := range []int64{1, 2, 3, 10} {
		for _, block := range []int64{1, 2, 7, 1000} {
			var owner [5000]int
			for index := range of {
				s, last := stripe{block, index, of}, int64(-1)
				for count := range int64(5000) {
					id := s.id(count)
					if id <= last || s.count(id) != count || s.blockLeft(count) != block-id%block {
						t.Fatalf("%+v: id(%d) = %d after %d", s, count, id, last)
					}
					if id < 5000 {
						owner[id]++
						if end := s.end(id); end != count+1 {
							t.Fatalf("%+v: end(%d) = %d, want %d", s, id, end, count+1)
						}
					}
					last = id
				}
				if end := s.end(math.MaxInt64 - 1); s.id(end-1) > math.MaxInt64-1 || s.id(end-1) < math.MaxInt64-1-of*block {
					t.Errorf("%+v: the last id is %d", s, s.id(end-1))
				}
			}
			for id, owners := range owner {
				if owners != 1 {
					t.Fatalf("%d stripes have id %d", owners, id)
				}
			}
		}
	}
}
