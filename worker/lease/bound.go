package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// bound is how long one request may take. A request without an answer in time doubles
// the bound, up to most; an answer within a quarter of the bound halves it. While a
// number is held, most is a quarter of the window.
type bound struct{ least, now, most time.Duration }

// firstBound is the longest that the first request waits.
const firstBound = 5 * time.Second

func newBound(beat, most time.Duration) bound {
	least := min(max(beat, time.Second), firstBound)
	return bound{least, least, most}
}

// within makes a request. If the request has no answer in time and ctx has not ended,
// the error is transient and matches context.DeadlineExceeded.
func (b *bound) within(ctx context.Context, request func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, b.now)
	defer cancel()
	began := time.Now()
	err := request(bounded)
	switch {
	case err == nil:
		if time.Since(began) < b.now/4 {
			b.now = max(b.least, b.now/2)
		}
	case endOf(ctx) == nil && endOf(bounded) != nil:
		if !errors.Is(err, context.DeadlineExceeded) { // some clients have errors of their own
			err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		err = Transient(fmt.Errorf("no answer within %v: %w", b.now, err))
		b.now = min(b.most, 2*b.now)
	}
	return err
}
