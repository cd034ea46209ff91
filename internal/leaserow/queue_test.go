package leaserow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Inserts that wait are served together, by range; one whose caller has gone is not. Each has
// its own number, and an error is that of those without one. A caller that leaves ends no request
// of others, and the queue leaves no goroutine behind.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var served [][]*Turn
		q := Queue{Most: 3}
		q.Allot = func(ctx context.Context, turns []*Turn) error {
			time.Sleep(time.Second)
			if err := ctx.Err(); err != nil {
				t.Errorf("a request of %d: %v", len(turns), err)
			}
			served = append(served, turns)
			for i, turn := range turns {
				turn.Number, turn.Done = int64(10*len(served)+i), i < 2
			}
			return broken
		}
		insert := func(ctx context.Context, to int64) {
			go func() {
				number, done, err := q.Insert(ctx, leasestore.Write{Within: leasestore.Range{To: to}})
				if done != (err == nil) || ctx.Err() == nil && err != nil && !errors.Is(err, broken) || done && number < 10 {
					t.Errorf("%d, %t, %v", number, done, err)
				}
			}()
			synctest.Wait()
		}
		gone, leave := context.WithCancel(t.Context())
		early, leaveEarly := context.WithCancel(t.Context())
		insert(context.Background(), 1) // alone
		insert(gone, 1)
		insert(early, 1)
		for range 3 {
			insert(context.Background(), 1)
		}
		insert(context.Background(), 2)
		leave()
		time.Sleep(1500 * time.Millisecond)
		leaveEarly()
		time.Sleep(time.Minute)
		q.mu.Lock() // after the writes of the queue's goroutine
		defer q.mu.Unlock()
		var sizes []int
		for _, turns := range served {
			sizes = append(sizes, len(turns))
		}
		if want := []int{1, 3, 1, 1}; len(sizes) != len(want) || sizes[1] != want[1] || sizes[3] != want[3] {
			t.Errorf("served %v, want %v", sizes, want)
		}
		if q.busy || len(q.waiting) > 0 {
			t.Errorf("%d wait", len(q.waiting))
		}
	})
}

// A request ends when all of its callers have gone.
func TestRequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		q := Queue{Most: 3}
		q.Allot = func(ctx context.Context, _ []*Turn) error {
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}
		ctx, leave := context.WithCancel(context.Background())
		go q.Insert(ctx, leasestore.Write{})
		time.Sleep(time.Minute)
		leave()
		if synctest.Wait(); !ended {
			t.Error("the request goes on for a caller that has gone")
		}
	})
}
