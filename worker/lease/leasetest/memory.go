package leasetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// Memory is a lease.Store in the memory of this process, for tests. It is also an
// example of a complete Store. The zero value is ready for use.
type Memory struct {
	mu     sync.Mutex
	rows   map[int64]*row
	next   map[int64]int64 // the least number that was never given, by the From of bounds
	layout string
}

type row struct {
	lease.Row
	until time.Time // the holder is alive until then; zero if nobody holds it
}

func (m *Memory) String() string { return "memory" }

// Look implements lease.Store.
func (m *Memory) Look(ctx context.Context, within lease.Bounds, full bool, _ time.Duration) (lease.View, error) {
	if err := ctx.Err(); err != nil {
		return lease.View{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if full {
		return lease.NewView(clock(), m.all(), m.next, within), nil
	}
	for tries := 2; ; tries-- {
		var rows []lease.Row
		for _, number := range within.Sample(m.least(within)) {
			if r, ok := m.rows[number]; ok {
				rows = append(rows, r.shown())
			}
		}
		view := lease.NewView(clock(), rows, m.next, within)
		if view.Held = 0; len(view.Free) > 0 || tries == 1 {
			return view, nil
		}
	}
}

// least returns the least number from within.From on that was never given.
func (m *Memory) least(within lease.Bounds) int64 { return lease.NewView(0, nil, m.next, within).Next }

func (m *Memory) Read(ctx context.Context, number int64, _ time.Duration) (*lease.Row, int64, error) {
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

// Insert implements lease.Store.
func (m *Memory) Insert(ctx context.Context, w lease.Write) (number int64, done bool, err error) {
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
	m.rows[w.Number] = &row{Row: lease.Row{Number: w.Number, Created: clock()}}
	m.rows[w.Number].write(w)
	return w.Number, true, nil
}

// Swap implements lease.Store.
func (m *Memory) Swap(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[w.Number]
	if !ok || r.Token != old {
		return false, nil
	}
	r.write(w)
	return true, nil
}

func (r *row) write(w lease.Write) {
	r.Token, r.Until, r.Heartbeat, r.until = w.Token, w.Until, clock(), time.Now().Add(w.Expiry)
	switch w.Change {
	case lease.Acquire:
		r.Node = w.Node
	case lease.Release:
		r.Heartbeat, r.until = 0, time.Time{}
	}
}

// Delete deletes a row, as somebody who edits the store would.
func (m *Memory) Delete(number int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, number)
}

// SwapLayout implements lease.Store.
func (m *Memory) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.layout == old {
		m.layout = layout
	}
	return m.layout, nil
}

// List implements lease.Store.
func (m *Memory) List(ctx context.Context, limit int, _ time.Duration) (rows []lease.Row, err error) {
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
func (m *Memory) all() (rows []lease.Row) {
	for _, r := range m.rows {
		rows = append(rows, r.shown())
	}
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(b.Number, a.Number) })
	return rows
}

func (r *row) shown() lease.Row {
	s := r.Row
	switch {
	case r.until.IsZero():
		s.State = lease.StateFree
	case time.Now().Before(r.until):
		s.State = lease.StateHeld
	default:
		s.State = lease.StateExpired
	}
	return s
}

func clock() int64 { return time.Now().UnixMilli() }
