package uid

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// await waits until ready accepts the grant, so that a start does not succeed while calls would
// fail: an earlier holder of the number may have reserved time ahead of the clock, or the number
// may be lost again. Its error says when ids begin.
func (c *clocked) await(ctx context.Context, ready func(*grant) bool) error {
	for logged := false; ; logged = true {
		w := c.grant.Load()
		held := w.covers(w.first) || !w.until.IsZero()
		switch {
		case errors.Is(w.err, ErrTimeExhausted):
			return w.err
		case held && ready(w):
			return nil
		case held:
			c.use(w.first) // so that the lease reserves beyond what the earlier holder had
		}
		begins := c.bits.Time(w.first)
		if !logged {
			c.log.Warn("uid: an earlier holder of the number reserved time ahead of the clock; the start waits until ids can be made",
				"worker", w.worker, "begins", instant(begins))
		}
		timer := time.NewTimer(min(max(begins.Sub(c.now()), time.Millisecond), time.Second)) // the clock may step
		select {
		case <-timer.C:
		case <-w.replaced:
		case <-ctx.Done():
		}
		timer.Stop()
		switch err := ctx.Err(); {
		case err != nil && held:
			return fmt.Errorf("uid: ids of number %d begin at %s, since an earlier holder reserved the time before: %w", w.worker, instant(begins), err)
		case err != nil:
			return errors.Join(err, c.uncovered(w))
		}
	}
}
