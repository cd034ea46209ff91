package leaserow

import (
	"context"
	"slices"
	"sync"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Queue makes the Fresh inserts of a Store take turns: one call of Allot serves all that
// wait, so that a herd of starts in one process does not compete for the count of given
// numbers. Set Allot and Most before the first Insert.
type Queue struct {
	// Allot serves writes of the same range. It sets Number and Done of each, or Err. Its
	// error is that of each turn that is not Done.
	Allot func(ctx context.Context, turns []*Turn) error
	Most  int // how many turns Allot serves at a time

	mu      sync.Mutex
	waiting []*Turn
	busy    bool // serve runs
}

// Turn is a Fresh insert that waits.
type Turn struct {
	leasestore.Write
	Number int64
	Done   bool
	Err    error // of this turn alone

	gone   context.Context // of the caller
	served chan struct{}   // closed when Number, Done and Err are set
}

// Insert waits until Allot has served w, or ctx ends.
func (q *Queue) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	t := &Turn{Write: w, gone: ctx, served: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	if !q.busy {
		q.busy = true
		go q.serve()
	}
	q.mu.Unlock()
	select {
	case <-t.served:
		return t.Number, t.Done && t.Err == nil, t.Err
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
}

// serve calls Allot until nobody waits.
func (q *Queue) serve() {
	for {
		turns := q.next()
		if turns == nil {
			return
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(turns[0].gone))
		go func() { // no request goes on for callers that have gone
			for _, t := range turns {
				select {
				case <-t.gone.Done():
				case <-t.served:
				}
			}
			cancel()
		}()
		err := q.Allot(ctx, turns)
		for _, t := range turns {
			if !t.Done && t.Err == nil {
				t.Err = err
			}
			close(t.served)
		}
	}
}

// next takes the turns that Allot serves next.
func (q *Queue) next() (turns []*Turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(t *Turn) bool {
		gone := t.gone.Err() != nil
		if !gone && len(turns) < q.Most && (turns == nil || t.Within == turns[0].Within) {
			turns = append(turns, t)
			return true
		}
		return gone
	})
	q.busy = turns != nil
	return turns
}
