package uid

import (
	"context"
	"iter"
	"time"
)

const (
	mostAhead = 1024             // ids that a loop claims at once, at most
	aheadFor  = time.Millisecond // for how long a loop's claim is meant to last
)

// all yields the ids of claims. The faster the loop, the more ids it claims at
// once; a loop that takes more than a millisecond per id claims one.
func all(ctx context.Context, claim claims) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		limit := int64(1)
		for {
			began := time.Now()
			if ctx.Err() != nil {
				yield(0, waitError(ctx))
				return
			}
			id, n, err := claim(limit)
			if err != nil {
				yield(0, err)
				return
			}
			for end := id + ID(n); id < end; id++ {
				if !yield(id, nil) {
					return
				}
			}
			if time.Since(began) < aheadFor {
				limit = min(2*limit, mostAhead)
			} else {
				limit = max(limit/2, 1)
			}
		}
	}
}
