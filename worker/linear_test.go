package worker_test

import (
	"cmp"
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/dbtest"
	"github.com/uidring/uidring/internal/lease"
	"github.com/uidring/uidring/worker"
)

// carrier carries a request to the table of leases.
type carrier = func(context.Context, lease.Request) lease.Answer

// Of a history.
const (
	linearClients = 5
	linearNumbers = 3
	linearRounds  = 60 // of each client
)

// The store is linearizable: whatever clients ask of it at once, there is an order
// of their requests, each between its call and its answer, in which each has the
// answer that it would have had alone. Some answers are lost, and some requests
// are given up.
func TestLinearizable(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		history := s.record(t, func(do carrier) carrier { return do })
		if !linearizable(t, history) {
			for _, op := range history {
				t.Logf("%d [%d, %d] %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
			}
			t.Error("not linearizable")
		}
	})
}

// A store that is not is found out.
func TestFaultyStoresAreNotLinearizable(t *testing.T) {
	for name, fault := range map[string]func(carrier) carrier{
		"swaps whatever the token": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				if r.Op == lease.Swap {
					if read := do(ctx, lease.Request{Op: lease.Read, Number: r.Number}); len(read.Rows) == 1 {
						r.Old = read.Rows[0].Token
					}
				}
				return do(ctx, r)
			}
		},
		"reads a stale row": func(do carrier) carrier {
			stale := map[int64]lease.Answer{}
			return func(ctx context.Context, r lease.Request) lease.Answer {
				answer := do(ctx, r)
				if r.Op == lease.Read && answer.Err == nil {
					if before, ok := stale[r.Number]; ok {
						stale[r.Number] = answer
						return before
					}
					stale[r.Number] = answer
				}
				return answer
			}
		},
		"loses what it said was done": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				if r.Op == lease.Swap && mathrand.IntN(4) == 0 {
					return lease.Answer{Done: true}
				}
				return do(ctx, r)
			}
		},
		"says that it made a row that was there": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				answer := do(ctx, r)
				if r.Op == lease.Insert && answer.Err != nil && duplicate(answer.Err) {
					return lease.Answer{Done: true}
				}
				return answer
			}
		},
		"says that it did nothing": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				answer := do(ctx, r)
				answer.Done = answer.Done && mathrand.IntN(4) > 0
				return answer
			}
		},
		"does not reserve": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				r.Until--
				return do(ctx, r)
			}
		},
		"does not release": func(do carrier) carrier {
			return func(ctx context.Context, r lease.Request) lease.Answer {
				r.Release = false
				return do(ctx, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &store{dbtest.New(t, "sqlite"), leaser}
			if linearizable(t, s.record(t, fault)) {
				t.Error("the fault was not found")
			}
		})
	}
}

func linearizable(t *testing.T, history []operation) bool {
	t.Helper()
	sure := settled(history)
	t.Logf("%d requests, %d of them without an answer", len(history), len(history)-len(sure))
	result := porcupine.CheckOperationsTimeout(model, sure, time.Minute)
	if result == porcupine.Unknown {
		t.Fatal("it takes too long to tell")
	}
	return result == porcupine.Ok
}

// linear is the store under test. Within the test nothing expires.
func (s *store) linear(db *gorm.DB) (carrier, error) {
	return s.leaser(db, worker.WithExpiry(time.Hour), worker.WithWindow(time.Hour)).Store(max22)
}

// record has several clients, with connections of their own, ask for all kinds of
// things at once, and returns what came of it. Last, all numbers are read.
func (s *store) record(t *testing.T, fault func(carrier) carrier) []operation {
	t.Helper()
	mustLease(t, s.leaser(s.DB), max22).release(t, time.Now()) // from then on there is a count
	s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
	var (
		mu      sync.Mutex
		history []operation
		clock   atomic.Int64 // of calls and returns
		clients sync.WaitGroup
	)
	for id := range linearClients {
		own := *s.Store
		own.DB = s.Open(t, s.URL)
		db, pool := own.Pooled(t)
		do, err := s.linear(db)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{id: id, do: fault(do), pool: pool, clock: &clock, known: map[int64][]string{}}
		clients.Go(func() {
			for range linearRounds {
				c.request()
			}
			mu.Lock()
			defer mu.Unlock()
			history = append(history, c.history...)
		})
	}
	clients.Wait()
	do, err := s.linear(s.DB)
	if err != nil {
		t.Fatal(err)
	}
	last := &client{id: linearClients, do: fault(do), clock: &clock}
	for number := range int64(linearNumbers) {
		if answer := last.ask(context.Background(), lease.Request{Op: lease.Read, Number: number}); answer.Err != nil {
			t.Fatal(answer.Err)
		}
	}
	history = append(history, last.history...)
	slices.SortFunc(history, func(a, b operation) int { return cmp.Compare(a.Call, b.Call) })
	return history
}

// client asks for one thing after the other.
type client struct {
	id      int
	do      carrier
	pool    *dbtest.Pool
	clock   *atomic.Int64
	history []operation
	known   map[int64][]string // tokens seen, the latest last
}

// request asks for one thing, as likely as not with a token that is out of date by
// now.
func (c *client) request() {
	number := mathrand.Int64N(linearNumbers)
	known := c.known[number]
	r := lease.Request{Op: lease.Read, Number: number}
	if mathrand.IntN(3) > 0 {
		r.Token, r.Until = rand.Text(), mathrand.Int64N(1<<40)
		if len(known) == 0 || mathrand.IntN(8) == 0 {
			r.Op, r.Acquire = lease.Insert, true
		} else {
			r.Op, r.Old = lease.Swap, known[max(0, len(known)-1-mathrand.IntN(4)/3)]
			r.Acquire, r.Release = mathrand.IntN(2) == 0, mathrand.IntN(3) == 0
			r.Acquire = r.Acquire && !r.Release
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	faults := dbtest.Faults{}
	switch mathrand.IntN(12) {
	case 0:
		faults.Commit = lost
	case 1:
		faults.Commit = refused
	case 2:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(mathrand.Int64N(int64(3*time.Millisecond))))
	}
	defer cancel()
	c.pool.Set(faults)
	answer := c.ask(ctx, r)
	switch {
	case answer.Done:
		c.known[number] = append(known, r.Token)
	case len(answer.Rows) > 0:
		c.known[number] = append(known, answer.Rows[0].Token)
	}
}

func (c *client) ask(ctx context.Context, r lease.Request) lease.Answer {
	call := c.clock.Add(1)
	answer := c.do(ctx, r)
	c.history = append(c.history, operation{ClientId: c.id, Input: r, Call: call, Output: answer, Return: c.clock.Add(1)})
	return answer
}

// A number that was ever given is not made anew by one who read before that it
// never was, even if its row is gone by now; and is by one who wants that very
// number.
func TestFreshInsert(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		do, err := s.linear(s.DB)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		insert := func(token string, fresh bool) lease.Answer {
			return do(ctx, lease.Request{Op: lease.Insert, Number: 0, Token: token, Until: 1, Acquire: true, Fresh: fresh})
		}
		look := do(ctx, lease.Request{Op: lease.Look})
		if look.Err != nil || look.Next != 0 {
			t.Fatalf("%+v; want 0 to be the next number", look)
		}
		if answer := insert("first", true); !answer.Done || answer.Err != nil {
			t.Fatalf("%+v; want it done", answer)
		}
		s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
		if answer := insert("second", true); answer.Done || answer.Err == nil {
			t.Errorf("%+v; want it not done", answer)
		}
		wantNumbers(t, s)
		if answer := insert("third", false); !answer.Done || answer.Err != nil {
			t.Errorf("%+v; want it done", answer)
		}
		wantNumbers(t, s, 0)
		if answer := insert("fourth", false); answer.Done || answer.Err == nil {
			t.Errorf("%+v; want it not done", answer)
		}
		if r, _ := s.row(t, 0); r.Token != "third" {
			t.Errorf("row %+v", r)
		}
	})
}
