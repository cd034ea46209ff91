package leasetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/uidring/uidring/worker/lease"
)

// An operation is a request and its answer. Call and Return order it among those
// of other clients.
type operation = porcupine.Operation

// request is a read of number, an insert or a swap of write.
type request struct {
	number int64
	insert bool
	old    string // swap: the token
	write  *lease.Write
}

// answer is what the store returned for a request.
type answer struct {
	row  *lease.Row
	done bool
	err  error
}

// The size of a history.
const (
	clients = 5
	numbers = 3
	rounds  = 60 // of each client
)

// within are the bounds of all numbers that a history inserts.
var within = lease.Bounds{From: 0, To: 1 << 20}

// record has several clients make random requests at the same time, and returns the
// history. It ends with a read of each number.
func record(t *testing.T, open Opener, fault func(lease.Store) lease.Store) []operation {
	t.Helper()
	var (
		mu      sync.Mutex
		history []operation
		clock   atomic.Int64 // of calls and returns
		running sync.WaitGroup
	)
	for id := range clients {
		c := &client{id: id, store: fault(open(t)), clock: &clock, known: map[int64][]string{}}
		running.Go(func() {
			for range rounds {
				c.request()
			}
			mu.Lock()
			defer mu.Unlock()
			history = append(history, c.history...)
		})
	}
	running.Wait()
	last := &client{id: clients, store: fault(open(t)), clock: &clock}
	for number := range int64(numbers) {
		if a := last.ask(context.Background(), request{number: number}); a.err != nil {
			t.Fatal(a.err)
		}
	}
	history = append(history, last.history...)
	slices.SortFunc(history, func(a, b operation) int { return cmp.Compare(a.Call, b.Call) })
	return history
}

// client makes one request after the other.
type client struct {
	id      int
	store   lease.Store
	clock   *atomic.Int64
	history []operation
	known   map[int64][]string // tokens seen, the latest last
}

// request makes a random request. The token of a swap is often out of date.
func (c *client) request() {
	number := mathrand.Int64N(numbers)
	known := c.known[number]
	r := request{number: number}
	if mathrand.IntN(3) > 0 {
		r.write = &lease.Write{
			Number: number, Token: rand.Text(), Until: mathrand.Int64N(1 << 40), Change: lease.Acquire,
			Node: lease.Node{Host: "history", Port: "1", Type: lease.NodeActual}, Expiry: time.Hour,
		}
		if len(known) == 0 || mathrand.IntN(8) == 0 {
			r.insert, r.write.Within = true, within
		} else {
			r.old = known[max(0, len(known)-1-mathrand.IntN(4)/3)]
			r.write.Change = lease.Change(1 + mathrand.IntN(3))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if mathrand.IntN(12) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(mathrand.Int64N(int64(3*time.Millisecond))))
	}
	defer cancel()
	a := c.ask(ctx, r)
	switch {
	case a.done:
		c.known[number] = append(known, r.write.Token)
	case a.row != nil:
		c.known[number] = append(known, a.row.Token)
	}
}

func (c *client) ask(ctx context.Context, r request) (a answer) {
	call := c.clock.Add(1)
	switch {
	case r.write == nil:
		a.row, _, a.err = c.store.Read(ctx, r.number, time.Hour)
	case r.insert:
		a.done, a.err = c.store.Insert(ctx, *r.write)
	default:
		a.done, a.err = c.store.Swap(ctx, r.old, *r.write)
	}
	if a.err != nil {
		a = answer{err: a.err}
	}
	c.history = append(c.history, operation{ClientId: c.id, Input: r, Call: call, Output: a, Return: c.clock.Add(1)})
	return a
}

// settled decides which failed writes of a history were done. The history ends with a read
// of each number. A failed write may have been done at any time after its call, or never.
// Each write has a token of its own:
//
//   - If an answer has the token, the write was done. Its return is then the end of time.
//   - If none has it, the write was not done before the last read, since only a client that
//     had seen the token could have overwritten it. The write is then left out.
//
// Failed reads are left out too.
func settled(history []operation) []operation {
	seen := map[string]bool{}
	for _, op := range history {
		r, a := op.Input.(request), op.Output.(answer)
		if a.done {
			seen[r.old] = true
		}
		if a.row != nil {
			seen[a.row.Token] = true
		}
	}
	var sure []operation
	for _, op := range history {
		r, a := op.Input.(request), op.Output.(answer)
		if a.err != nil {
			if r.write == nil || !seen[r.write.Token] {
				continue
			}
			op.Output, op.Return = answer{done: true}, math.MaxInt64
		}
		sure = append(sure, op)
	}
	return sure
}

// errLost is the error of a request with a lost answer.
var errLost = errors.New("leasetest: the answer was lost")

// lossy is a store that loses some requests and some answers.
type lossy struct{ lease.Store }

func (s lossy) Insert(ctx context.Context, w lease.Write) (bool, error) {
	return s.lose(func() (bool, error) { return s.Store.Insert(ctx, w) })
}

func (s lossy) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	return s.lose(func() (bool, error) { return s.Store.Swap(ctx, old, w) })
}

func (s lossy) lose(write func() (bool, error)) (bool, error) {
	switch mathrand.IntN(12) {
	case 0:
		return false, errLost
	case 1:
		_, err := write()
		return false, cmp.Or(err, errLost)
	}
	return write()
}
