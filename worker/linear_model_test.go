package worker_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/uidring/uidring/internal/lease"
)

// An operation is a request and what came of it. Call and Return order it among
// those of other clients.
type operation = porcupine.Operation

// register is the row of one number, as the model has it.
type register struct {
	exists bool
	token  string
	until  int64
	live   bool
}

// write is what a write leaves.
func write(r lease.Request) register { return register{true, r.Token, r.Until, !r.Release} }

// model is what the store of leases claims to be: for each number a register that
// is made once, read, and written by compare-and-swap on its token.
var model = porcupine.Model{
	Partition: func(history []operation) [][]operation {
		byNumber := map[int64][]operation{}
		for _, op := range history {
			number := op.Input.(lease.Request).Number
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
		is, request, answer := state.(register), input.(lease.Request), output.(lease.Answer)
		switch request.Op {
		case lease.Read:
			shown := register{}
			if len(answer.Rows) == 1 {
				row := answer.Rows[0]
				shown = register{true, row.Token, row.Until, row.Live}
			}
			return shown == is, is
		case lease.Insert:
			if answer.Done {
				return !is.exists, write(request)
			}
			return is.exists, is
		default:
			match := is.exists && is.token == request.Old
			if answer.Done {
				return match, write(request)
			}
			return !match, is
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// duplicate reports whether a write was not done because the row was there: the
// one error that leaves no doubt, and says something.
func duplicate(err error) bool {
	for _, words := range []string{"Error 1062 ", "SQLSTATE 23505", "UNIQUE constraint failed"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

// settled is a history, which ends with a read of each number, without doubts. A
// write that failed may have been done at any time after its call, or not at all.
// Each has a token of its own, so that it was done if the token was ever seen: then
// its return is the end of time. If it was not seen, it was not done before the last
// read, for nobody can have overwritten it who had not seen it. A read that failed
// says nothing.
func settled(history []operation) []operation {
	seen := map[string]bool{}
	for _, op := range history {
		request, answer := op.Input.(lease.Request), op.Output.(lease.Answer)
		if answer.Done {
			seen[request.Old] = true
		}
		for _, row := range answer.Rows {
			seen[row.Token] = true
		}
	}
	var sure []operation
	for _, op := range history {
		request, answer := op.Input.(lease.Request), op.Output.(lease.Answer)
		if answer.Err != nil && !duplicate(answer.Err) {
			if request.Op == lease.Read || !seen[request.Token] {
				continue
			}
			op.Output, op.Return = lease.Answer{Done: true}, math.MaxInt64
		}
		sure = append(sure, op)
	}
	return sure
}
