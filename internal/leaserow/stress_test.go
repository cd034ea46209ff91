package leaserow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// However inserts, callers that leave and the end of the queue's goroutine meet, each insert
// whose caller stays is served with a number of its own, by one Allot at a time.
func TestQueueStress(t *testing.T) {
	var next int64
	var allotting atomic.Int32
	q := Queue{Most: 3}
	q.Allot = func(_ context.Context, turns []*Turn) error {
		if allotting.Add(1) > 1 {
			t.Error("two calls of Allot at once")
		}
		for _, turn := range turns {
			next++
			turn.Number, turn.Done = next, true
		}
		allotting.Add(-1)
		return nil
	}
	var seen sync.Map
	var starts sync.WaitGroup
	for i := range 8 {
		starts.Go(func() {
			for n := range 2000 {
				ctx, leave := context.WithTimeout(t.Context(), time.Minute)
				leaves := (n+i)%3 == 0
				if leaves {
					go leave()
				}
				number, done, err := q.Insert(ctx, leasestore.Write{Within: leasestore.Range{To: int64(i % 2)}})
				leave()
				if done != (err == nil) || err != nil && !(leaves && errors.Is(err, context.Canceled)) {
					t.Errorf("Insert() = %d, %v, %v; the caller leaves: %v", number, done, err, leaves)
					return
				}
				if _, given := seen.LoadOrStore(number, true); done && given {
					t.Errorf("number %d was given before", number)
				}
			}
		})
	}
	starts.Wait()
}
