package leasetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Linearizable records a history of concurrent requests, and fails if the history is not
// linearizable: some order of the requests, each taking effect between its call and its response,
// must explain all responses. The test drops some requests and some responses.
func Linearizable(t *testing.T, open Opener) {
	t.Helper()
	history := record(t, func(t *testing.T) leasestore.Store { return lossy(open(t)) })
	if !linearizable(t, history) {
		for _, op := range history {
			t.Logf("%+v", op)
		}
		t.Error("not linearizable")
	}
}

func linearizable(t *testing.T, history []operation) bool {
	t.Helper()
	sure := decided(history)
	t.Logf("%d requests, %d of them without an answer", len(history), len(history)-len(sure))
	result := porcupine.CheckOperationsTimeout(model, sure, time.Minute)
	if result == porcupine.Unknown {
		t.Fatal("the check takes longer than a minute")
	}
	return result == porcupine.Ok
}

type operation = porcupine.Operation

// request is a read of write's number, an insert, or a swap of the token old.
type request struct {
	kind  kind
	old   string
	write leasestore.Write
}

type kind string

const (
	reading   kind = "read"
	inserting kind = "insert"
	swapping  kind = "swap"
)

type answer struct {
	row  register
	done bool
	err  error
}

// register is a number's row in the model. The zero register stands for a missing row.
type register struct {
	token string
	until int64
	held  bool
}

// model is a store as it should be.
var model = porcupine.Model{
	Partition: func(history []operation) [][]operation {
		byNumber := map[int64][]operation{}
		for _, op := range history {
			number := op.Input.(request).write.Number
			byNumber[number] = append(byNumber[number], op)
		}
		return slices.Collect(maps.Values(byNumber))
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		is, r, a := state.(register), input.(request), output.(answer)
		if r.kind == reading {
			return a.row == is, is
		}
		// Without a row, the token is empty, and so is what an insert wants to replace.
		if a.done != (is.token == r.old) {
			return false, is
		}
		if a.done {
			return true, register{r.write.Token, r.write.Until, r.write.Change != leasestore.Release}
		}
		return true, is
	},
}

const (
	clients  = 5
	recorded = 3  // numbers
	rounds   = 60 // of each client
)

// record returns the history of several clients. It ends with a read of each number.
func record(t *testing.T, open Opener) (history []operation) {
	t.Helper()
	var clock atomic.Int64 // of calls and returns
	all := make([]*client, clients)
	for id := range all {
		all[id] = &client{id: id, store: open(t), clock: &clock, known: map[int64][]string{}}
	}
	holdertest.Together(clients, func(id int) {
		for range rounds {
			all[id].request()
		}
	})
	last := &client{id: clients, store: open(t), clock: &clock}
	for number := range int64(recorded) {
		if a := last.ask(context.Background(), request{kind: reading, write: leasestore.Write{Number: number}}); a.err != nil {
			t.Fatal(a.err)
		}
	}
	for _, c := range slices.Concat(all, []*client{last}) {
		history = append(history, c.history...)
	}
	slices.SortFunc(history, func(a, b operation) int { return cmp.Compare(a.Call, b.Call) })
	return history
}

type client struct {
	id      int
	store   leasestore.Store
	clock   *atomic.Int64
	history []operation
	known   map[int64][]string // tokens seen, the latest last
}

// request makes a random request. The token of a swap is often out of date.
func (c *client) request() {
	r := request{kind: reading, write: leasestore.Write{
		Number: mathrand.Int64N(recorded), Token: rand.Text(), Until: mathrand.Int64N(1 << 40), Change: leasestore.Acquire, Node: node, Expiry: time.Hour,
	}}
	known := c.known[r.write.Number]
	switch {
	case mathrand.IntN(3) == 0:
	case len(known) == 0 || mathrand.IntN(8) == 0:
		r.kind, r.write.Within = inserting, within
	default:
		r.kind, r.old = swapping, known[max(0, len(known)-1-mathrand.IntN(4)/3)]
		r.write.Change = leasestore.Change(1 + mathrand.IntN(3))
	}
	ctx, cancel := context.WithCancel(context.Background())
	if mathrand.IntN(12) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(mathrand.Int64N(int64(3*time.Millisecond))))
	}
	defer cancel()
	a := c.ask(ctx, r)
	switch {
	case a.done:
		c.known[r.write.Number] = append(known, r.write.Token)
	case a.row.token != "":
		c.known[r.write.Number] = append(known, a.row.token)
	}
}

func (c *client) ask(ctx context.Context, r request) (a answer) {
	call := c.clock.Add(1)
	switch r.kind {
	case reading:
		var row *leasestore.Row
		if row, _, a.err = c.store.Read(ctx, r.write.Number, time.Hour); row != nil {
			a.row = register{row.Token, row.Until, row.State == leasestore.StateHeld}
		}
	case inserting:
		_, a.done, a.err = c.store.Insert(ctx, r.write)
	case swapping:
		a.done, a.err = c.store.Swap(ctx, r.old, r.write)
	}
	if a.err != nil {
		a = answer{err: a.err}
	}
	c.history = append(c.history, operation{ClientId: c.id, Input: r, Call: call, Output: a, Return: c.clock.Add(1)})
	return a
}

// decided decides which failed writes of a history were done. The history ends with a read
// of each number. A failed write may have been done at any time after its call, or never.
// Each write has a token of its own:
//
//   - If an answer has the token, the write was done. Its return is then the end of time.
//   - If none has it, the write was not done before the last read, since only a client that
//     had seen the token could have overwritten it. The write is then left out.
//
// Failed reads are left out too.
func decided(history []operation) (sure []operation) {
	seen := map[string]bool{}
	for _, op := range history {
		r, a := op.Input.(request), op.Output.(answer)
		seen[a.row.token] = true
		if a.done {
			seen[r.old] = true
		}
	}
	for _, op := range history {
		if r, a := op.Input.(request), op.Output.(answer); a.err != nil {
			if r.kind == reading || !seen[r.write.Token] {
				continue
			}
			op.Output, op.Return = answer{done: true}, math.MaxInt64
		}
		sure = append(sure, op)
	}
	return sure
}
