package leasetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Memory is an in-memory leasestore.Store for tests. It is also an example of a complete Store.
// The zero value is ready for use.
type Memory struct {
	mu     sync.Mutex
	rows   map[int64]*row
	next   map[int64]int64 // the least number that was never given, by the From of ranges
	layout string
}

type row struct {
	leasestore.Row
	until time.Time // the holder is alive until then; zero if nobody holds it
}

func (m *Memory) String() string { return "memory" }

// Look implements leasestore.Store.
func (m *Memory) Look(ctx context.Context, within leasestore.Range, full bool, _ time.Duration) (leasestore.View, error) {
	if err := ctx.Err(); err != nil {
		return leasestore.View{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if full {
		return leasestore.NewView(clock(), m.all(), m.next, within), nil
	}
	for tries := 2; ; tries-- {
		var rows []leasestore.Row
		for _, number := range within.Sample(m.least(within)) {
			if r, ok := m.rows[number]; ok {
				rows = append(rows, r.shown())
			}
		}
		view := leasestore.NewView(clock(), rows, m.next, within)
		if view.Held = 0; len(view.Free) > 0 || tries == 1 {
			return view, nil
		}
	}
}

// least returns the least number from within.From on that was never given.
func (m *Memory) least(within leasestore.Range) int64 {
	return leasestore.NewView(0, nil, m.next, within).Next
}

func (m *Memory) Read(ctx context.Context, number int64, _ time.Duration) (*leasestore.Row, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[number]
	if !ok {
		return nil, clock(), nil
	}
	return new(r.shown()), clock(), nil
}

// Insert implements leasestore.Store.
func (m *Memory) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.Fresh {
		w.Number = m.least(w.Within)
	}
	if _, ok := m.rows[w.Number]; ok || w.Fresh && w.Number > w.Within.To {
		return w.Number, false, nil
	}
	if m.rows == nil {
		m.rows, m.next = map[int64]*row{}, map[int64]int64{}
	}
	m.next[w.Within.From] = max(m.next[w.Within.From], w.Number+1)
	m.rows[w.Number] = &row{Row: leasestore.Row{Number: w.Number, Created: clock()}}
	m.rows[w.Number].write(w)
	return w.Number, true, nil
}

// Swap implements leasestore.Store.
func (m *Memory) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[w.Number]
	if now := clock(); !ok || r.Token != old || w.Latest > 0 && (now < w.Earliest || now > w.Latest) {
		return false, nil
	}
	r.write(w)
	return true, nil
}

func (r *row) write(w leasestore.Write) {
	r.Token, r.Until, r.Heartbeat, r.until = w.Token, w.Until, clock(), time.Now().Add(w.Expiry)
	switch w.Change {
	case leasestore.Acquire:
		r.Node = w.Node
	case leasestore.Release:
		r.Heartbeat, r.until = 0, time.Time{}
	}
}

// Delete deletes a row, as someone who edits the store would.
func (m *Memory) Delete(number int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, number)
}

// SwapLayout implements leasestore.Store.
func (m *Memory) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.layout == old && terms.Layout != "" {
		m.layout = terms.Layout
	}
	return m.layout, nil
}

// List implements leasestore.Store.
func (m *Memory) List(ctx context.Context, limit int, _ time.Duration) (rows []leasestore.Row, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rows = m.all()
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, nil
}

// all returns all rows, the highest number first.
func (m *Memory) all() (rows []leasestore.Row) {
	for _, r := range m.rows {
		rows = append(rows, r.shown())
	}
	slices.SortFunc(rows, func(a, b leasestore.Row) int { return cmp.Compare(b.Number, a.Number) })
	return rows
}

func (r *row) shown() leasestore.Row {
	s := r.Row
	switch {
	case r.until.IsZero():
		s.State = leasestore.StateFree
	case time.Now().Before(r.until):
		s.State = leasestore.StateHeld
	default:
		s.State = leasestore.StateExpired
	}
	return s
}

func clock() int64 { return time.Now().UnixMilli() }
