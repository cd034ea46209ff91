package uidhttp

import (
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// document is what stats.json has. The package comment explains every field.
type document struct {
	Time       string      `json:"time"`
	Generators []generator `json:"generators"`
}

type generator struct {
	Name           string   `json:"name"`
	State          state    `json:"state"`
	Notes          []string `json:"notes"`
	Layout         string   `json:"layout"`
	LayoutEnd      *string  `json:"layout_end"`
	LayoutEndsSoon bool     `json:"layout_ends_soon"`
	Worker         int64    `json:"worker"`
	WorkerChanges  int64    `json:"worker_changes"`
	ReservedUntil  *string  `json:"reserved_until"`
	LeaseError     *string  `json:"lease_error"`
	Issued         int64    `json:"issued"`
	RejectedTakes  int64    `json:"rejected_takes"`
	Waited         float64  `json:"waited_seconds"`
	Ring           *ring    `json:"ring"`
}

type ring struct {
	Capacity     int64    `json:"capacity"`
	Threshold    int64    `json:"threshold"`
	Remaining    int64    `json:"remaining"`
	Refills      int64    `json:"refills"`
	Helps        int64    `json:"helps"`
	RejectedPuts int64    `json:"rejected_puts"`
	Dropped      int64    `json:"dropped"`
	OldestAge    float64  `json:"oldest_age_seconds"`
	Borrowed     float64  `json:"borrowed_seconds"`
	MaxBorrow    *float64 `json:"max_borrow_seconds"`
	LastError    *string  `json:"last_error"`
}

func describe(name string, layout bits.Layout, s uid.Stats, now time.Time) generator {
	state, notes := judge(layout, s, now)
	g := generator{
		Name:           name,
		State:          state,
		Notes:          notes,
		Layout:         layout.String(),
		LayoutEnd:      instant(s.LayoutEnd),
		LayoutEndsSoon: s.LayoutEndsSoon,
		Worker:         s.Worker,
		WorkerChanges:  s.WorkerChanges,
		ReservedUntil:  instant(s.ReservedUntil),
		LeaseError:     text(s.LeaseError),
		Issued:         s.Issued,
		RejectedTakes:  s.RejectedTakes,
		Waited:         s.Waited.Seconds(),
	}
	if s.Capacity == 0 {
		return g
	}
	g.Ring = &ring{
		Capacity:     s.Capacity,
		Threshold:    s.Threshold,
		Remaining:    s.Remaining,
		Refills:      s.Refills,
		Helps:        s.Helps,
		RejectedPuts: s.RejectedPuts,
		Dropped:      s.Dropped,
		OldestAge:    s.OldestAge.Seconds(),
		Borrowed:     s.Borrowed.Seconds(),
		LastError:    text(s.LastError),
	}
	if limit, ok := bound(s); ok {
		seconds := limit.Seconds()
		g.Ring.MaxBorrow = &seconds
	}
	return g
}

// instant returns t in RFC 3339, or nil for none, or one that RFC 3339 has no
// form for.
func instant(t time.Time) *string {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return nil
	}
	text := t.Format(time.RFC3339Nano)
	return &text
}

func text(err error) *string {
	if err == nil {
		return nil
	}
	text := err.Error()
	return &text
}
