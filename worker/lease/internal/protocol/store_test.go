package protocol

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// memory is a store of leases: all that the protocol asks of a database.
type memory struct {
	rows   map[int64]record
	head   int64 // above every number that was inserted as new
	fixed  int64 // above every other number that was inserted: each is a range of its own
	now    int64
	expiry int64
}

type record struct {
	token   string
	until   int64
	written int64 // by the store's clock, or released
}

const released = math.MinInt64

// mostFree is how many free rows a look shows.
const mostFree = 32

func newMemory(now, expiry int64) memory {
	return memory{rows: map[int64]record{}, now: now, expiry: expiry}
}

// backup is a copy, to restore the store from.
func (m *memory) backup() memory {
	c := *m
	c.rows = maps.Clone(m.rows)
	return c
}

func (m *memory) live(r record) bool { return r.written > m.now-m.expiry }

func (m *memory) row(number int64, r record) Row {
	return Row{Number: number, Token: r.token, Until: r.until, Live: m.live(r)}
}

// do carries out one request.
func (m *memory) do(request Request) Answer {
	old, exists := m.rows[request.Number]
	switch request.Op {
	case Look:
		return m.look()
	case Read:
		answer := Answer{Now: m.now}
		if exists {
			answer.Rows = []Row{m.row(request.Number, old)}
		}
		return answer
	case Insert:
		if exists || request.Fresh && request.Number < m.head {
			return Answer{}
		}
		if request.Fresh {
			m.head = max(m.head, request.Number+1)
		} else {
			m.fixed = max(m.fixed, request.Number+1)
		}
	case Swap:
		if !exists || old.token != request.Old {
			return Answer{}
		}
	}
	written := m.now
	if request.Release {
		written = released
	}
	m.rows[request.Number] = record{token: request.Token, until: request.Until, written: written}
	return Answer{Done: true}
}

func (m *memory) look() Answer {
	answer := Answer{Now: m.now, Next: max(m.head, m.fixed)}
	for number, r := range m.rows {
		answer.Next = max(answer.Next, number+1)
		if m.live(r) {
			answer.Held++
		} else {
			answer.Rows = append(answer.Rows, m.row(number, r))
		}
	}
	slices.SortFunc(answer.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Number, b.Number))
	})
	answer.Rows = answer.Rows[:min(len(answer.Rows), mostFree)]
	return answer
}

// TestMemory holds the store of the other tests to what store.go says.
func TestMemory(t *testing.T) {
	m := newMemory(1000, 10)
	insert := func(number int64, token string, until int64) Answer {
		return m.do(Request{Op: Insert, Number: number, Token: token, Until: until, Acquire: true})
	}
	for i := range int64(40) {
		if a := insert(i, fmt.Sprint("t", i), 2000-i); !a.Done {
			t.Fatalf("insert of %d was not done", i)
		}
	}
	if a := insert(3, "other", 1); a.Done || m.rows[3].token != "t3" {
		t.Errorf("a second insert of a number was done: %+v", m.rows[3])
	}
	if a := m.do(Request{Op: Swap, Number: 3, Old: "wrong", Token: "new", Until: 1}); a.Done || m.rows[3].token != "t3" {
		t.Errorf("a swap with the wrong token was done: %+v", m.rows[3])
	}
	if a := m.do(Request{Op: Swap, Number: 99, Old: "", Token: "new", Until: 1}); a.Done || len(m.rows) != 40 {
		t.Error("a swap of no row was done")
	}
	if a := m.do(Request{Op: Look}); len(a.Rows) != 0 || a.Held != 40 || a.Next != 40 || a.Now != 1000 {
		t.Errorf("all are held, but a look says %+v", a)
	}
	m.now += 9
	if a := m.do(Request{Op: Swap, Number: 3, Old: "t3", Token: "s3", Until: 5000}); !a.Done {
		t.Error("a swap with the right token was not done")
	}
	if a := m.do(Request{Op: Swap, Number: 5, Old: "t5", Token: "s5", Until: 1500, Release: true}); !a.Done {
		t.Error("a release was not done")
	}
	if a := m.do(Request{Op: Look}); len(a.Rows) != 1 || a.Rows[0] != (Row{Number: 5, Token: "s5", Until: 1500}) || a.Held != 39 {
		t.Errorf("one is released, but a look says %+v", a)
	}
	m.now++
	a := m.do(Request{Op: Look})
	if len(a.Rows) != mostFree || a.Held != 1 || a.Rows[0].Number != 5 || a.Rows[1].Number != 39 || a.Rows[31].Number != 9 {
		t.Errorf("all but one have expired, but a look says %+v", a)
	}
	if a := m.do(Request{Op: Read, Number: 3}); len(a.Rows) != 1 || a.Rows[0] != (Row{Number: 3, Token: "s3", Until: 5000, Live: true}) || a.Now != 1010 {
		t.Errorf("read of 3 says %+v", a)
	}
	delete(m.rows, 39)
	if a := m.do(Request{Op: Look}); a.Next != 40 {
		t.Errorf("a number whose row was deleted would be given again: %+v", a)
	}
	if a := m.do(Request{Op: Read, Number: 39}); len(a.Rows) != 0 {
		t.Errorf("read of a deleted row says %+v", a)
	}
	backup := m.backup()
	m.do(Request{Op: Swap, Number: 3, Old: "s3", Token: "u3", Until: 6000})
	if backup.rows[3].token != "s3" {
		t.Error("a backup changed with what it is of")
	}
}
