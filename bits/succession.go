package bits

import (
	"fmt"
	"time"
)

// Succession reports whether ids of a new layout can equal ids of the old one
// in the same column. Make one with [NewSuccession].
type Succession struct {
	// Ordered says whether every new id is greater than every old one.
	Ordered bool

	// Only a new id stamped at or after From and before Until can equal an old one. From and Until
	// are zero if none can. At or after Until, every new id is greater than every old id. Before
	// that, worker numbers can keep ids apart: see FreshNumbers.
	From, Until time.Time

	// Both layouts keep worker numbers in bits low to high of an id. If they share no such bits,
	// high is at most low.
	low, high uint8

	old, next *Allocator
}

// NewSuccession compares the ids that old makes between began (inclusive) and ended (exclusive)
// with the ids that next makes from then on. A zero began means old's epoch. ended must be later
// than every old id's time, which may be ahead of the clock by up to uid.CachedConfig.MaxBorrow. With
// a zero ended, both layouts make ids at the same time, so only worker numbers keep ids apart.
//
// The error matches [ErrLayout] for an invalid layout. It matches [ErrRange] if old has no ids
// from began to ended, or if next has none from then on.
func NewSuccession(old, next Layout, began, ended time.Time) (Succession, error) {
	o, err := NewAllocator(old)
	if err != nil {
		return Succession{}, fmt.Errorf("%w (the old layout)", err)
	}
	n, err := NewAllocator(next)
	if err != nil {
		return Succession{}, fmt.Errorf("%w (the next layout)", err)
	}
	s := Succession{
		low:  max(o.workerShift, n.workerShift),
		high: min(o.timeShift, n.timeShift),
		old:  o,
		next: n,
	}
	if ended.IsZero() {
		s.From, s.Until = n.Time(0), next.End()
		return s, nil
	}
	if began.Before(old.Epoch) {
		began = old.Epoch
	}
	firstTick, lastTick := o.Tick(began), min(o.Tick(ended.Add(-1)), o.maxTick)
	if lastTick < firstTick {
		return Succession{}, fmt.Errorf("%w: %s has no ids from %s to %s", ErrRange, o.layout, rfc3339(began), rfc3339(ended))
	}
	start := n.Tick(ended) // below 0 if next begins later
	if start > n.maxTick {
		return Succession{}, fmt.Errorf("%w: %s has no ids from %s on", ErrRange, n.layout, rfc3339(ended))
	}
	least, greatest := o.first(firstTick, 0), o.last(lastTick)
	s.Ordered = n.first(start, 0) > greatest
	if !s.Ordered && n.last(n.maxTick) >= least {
		s.From = n.Time(max(start, least>>n.timeShift))
		if s.From.Before(ended) {
			s.From = ended.UTC()
		}
		s.Until = n.Time(min(greatest>>n.timeShift, n.maxTick) + 1)
	}
	return s, nil
}

// FreshNumbers returns the lowest range of safe worker numbers, from first to last. A worker
// number is safe if no new id with that number can equal an old id with a number from 0 to used.
// If both layouts share WorkerBits and SequenceBits, every number above used is safe. If no
// number is safe, ok is false.
func (s Succession) FreshNumbers(used int64) (first, last int64, ok bool) {
	if s.From.IsZero() {
		return 0, s.next.maxWorker, true
	}
	if s.high <= s.low {
		return 0, 0, false
	}
	// In the bits that both have, numbers from 0 to used are 0 to taken.
	taken := used >> (s.low - s.old.workerShift)
	if taken >= 1<<(s.high-s.low)-1 {
		return 0, 0, false
	}
	return (taken + 1) << (s.low - s.next.workerShift), 1<<(s.high-s.next.workerShift) - 1, true
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
