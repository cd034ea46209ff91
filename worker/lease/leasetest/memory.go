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
// example of a complete Store. Make one with NewMemory.
type Memory struct {
	mu   sync.Mutex
	rows map[int64]*row
	next map[int64]int64 // the least number that was never given, by the From of bounds
	now  func() time.Time
}

type row struct {
	lease.Row
	until time.Time // the holder is alive until then; zero if nobody holds it
}

// NewMemory returns a store without rows.
func NewMemory() *Memory {
	return &Memory{rows: map[int64]*row{}, next: map[int64]int64{}, now: time.Now}
}

// Name implements lease.Store.
func (m *Memory) Name() string { return "memory" }

// Look implements lease.Store.
func (m *Memory) Look(ctx context.Context, within lease.Bounds, _ time.Duration) (lease.View, error) {
	if err := ctx.Err(); err != nil {
		return lease.View{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []lease.Row
	for _, r := range m.rows {
		rows = append(rows, m.shown(r))
	}
	return lease.NewView(m.clock(), rows, m.next, within), nil
}

// Read implements lease.Store.
func (m *Memory) Read(ctx context.Context, number int64, _ time.Duration) (*lease.Row, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.rows[number]
	if !ok {
		return nil, m.clock(), nil
	}
	shown := m.shown(r)
	return &shown, m.clock(), nil
}

// Insert implements lease.Store.
func (m *Memory) Insert(ctx context.Context, w lease.Write) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.rows[w.Number]; ok || w.Fresh && w.Number < m.next[w.Within.From] {
		return false, nil
	}
	m.next[w.Within.From] = max(m.next[w.Within.From], w.Number+1)
	r := &row{Row: lease.Row{Number: w.Number, Created: m.clock()}}
	m.rows[w.Number] = r
	m.write(r, w)
	return true, nil
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
	m.write(r, w)
	return true, nil
}

func (m *Memory) write(r *row, w lease.Write) {
	r.Token, r.Until, r.Heartbeat, r.until = w.Token, w.Until, m.clock(), m.now().Add(w.Expiry)
	switch w.Change {
	case lease.Acquire:
		r.Node = w.Node
	case lease.Release:
		r.Heartbeat, r.until = 0, time.Time{}
	}
}

// List implements lease.Store.
func (m *Memory) List(ctx context.Context, limit int, _ time.Duration) (rows []lease.Row, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		rows = append(rows, m.shown(r))
	}
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(b.Number, a.Number) })
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, nil
}

// shown returns a row with its state.
func (m *Memory) shown(r *row) lease.Row {
	shown := r.Row
	switch {
	case r.until.IsZero():
		shown.State = lease.StateFree
	case m.now().Before(r.until):
		shown.State = lease.StateHeld
	default:
		shown.State = lease.StateExpired
	}
	return shown
}

func (m *Memory) clock() int64 { return m.now().UnixMilli() }
