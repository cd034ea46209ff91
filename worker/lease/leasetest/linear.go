package leasetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/uidring/uidring/worker/lease"
)

// Linearizable fails unless the store is linearizable: concurrent requests have an
// order, each between its call and its answer, that explains all answers. The test
// loses some requests and some answers.
func Linearizable(t *testing.T, open Opener) {
	t.Helper()
	history := record(t, open, func(s lease.Store) lease.Store { return lossy{s} })
	if !linearizable(t, history) {
		for _, op := range history {
			t.Logf("%d [%d, %d] %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
		}
		t.Error("not linearizable")
	}
}

func linearizable(t *testing.T, history []operation) bool {
	t.Helper()
	sure := settled(history)
	t.Logf("%d requests, %d of them without an answer", len(history), len(history)-len(sure))
	result := porcupine.CheckOperationsTimeout(model, sure, time.Minute)
	if result == porcupine.Unknown {
		t.Fatal("the check takes longer than a minute")
	}
	return result == porcupine.Ok
}

// register is the row of one number in the model.
type register struct {
	exists bool
	token  string
	until  int64
	held   bool
}

// written returns the register after a write.
func written(w *lease.Write) register {
	return register{true, w.Token, w.Until, w.Change != lease.Release}
}

// model is a store as it should be: for each number a register that is made once, read,
// and written by compare-and-swap on its token.
var model = porcupine.Model{
	Partition: func(history []operation) [][]operation {
		byNumber := map[int64][]operation{}
		for _, op := range history {
			number := op.Input.(request).number
			byNumber[number] = append(byNumber[number], op)
		}
		var parts [][]operation
		for _, part := range byNumber {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		is, r, a := state.(register), input.(request), output.(answer)
		switch {
		case r.write == nil:
			shown := register{}
			if a.row != nil {
				shown = register{true, a.row.Token, a.row.Until, a.row.State == lease.StateHeld}
			}
			return shown == is, is
		case r.insert:
			if a.done {
				return !is.exists, written(r.write)
			}
			return is.exists, is
		default:
			match := is.exists && is.token == r.old
			if a.done {
				return match, written(r.write)
			}
			return !match, is
		}
	},
	DescribeOperation: func(input, output any) string {
		r, a := input.(request), output.(answer)
		switch {
		case r.write == nil:
			return fmt.Sprintf("read %d -> %+v, %v", r.number, a.row, a.err)
		case r.insert:
			return fmt.Sprintf("insert %+v -> %t, %v", *r.write, a.done, a.err)
		}
		return fmt.Sprintf("swap %s for %+v -> %t, %v", r.old, *r.write, a.done, a.err)
	},
}
