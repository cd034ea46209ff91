package protocol

import (
	"cmp"
	"maps"
	"math"
	"slices"
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
