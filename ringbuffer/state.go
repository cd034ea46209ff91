package ringbuffer

import (
	"math"
	"sync/atomic"
)

// Capacity returns how many ids fit into the ring: a power of two that never changes.
func (r *Ring) Capacity() int64 { return r.capacity }

// Threshold returns the number of ids below which the ring signals on [Ring.Low].
func (r *Ring) Threshold() int64 { return r.threshold }

// Remaining returns the number of ids in the ring, which takers may change before Remaining
// returns.
func (r *Ring) Remaining() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remaining()
}

// remaining returns the ids that wait, and those of the current span that have not been
// claimed. It is called with mu held.
func (r *Ring) remaining() int64 {
	s := r.current.Load()
	return r.queued + max(0, s.end()-atomic.LoadInt64(&r.position))
}

// HasRoom reports whether a run of the maximum length fits. If it does, and only one goroutine
// calls Put, the next Put of such a run does not fail with [ErrFull].
func (r *Ring) HasRoom() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && r.runLen <= r.capacity-r.remaining() && r.tail-r.head < uint64(len(r.slots))
}

// Counts are the totals of a ring, all as of the same moment, so Put is the sum of the others.
type Counts struct {
	Put       int64 // ids ever put
	Taken     int64 // ids ever taken
	Dropped   int64 // ids ever dropped, by Drop or Close
	Remaining int64 // ids in the ring
}

// Counts returns the totals of the ring. Taken is computed, as Put minus Dropped minus Remaining.
func (r *Ring) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	remaining := r.remaining()
	return Counts{
		Put:       r.put,
		Taken:     r.put - r.dropped - remaining,
		Dropped:   r.dropped,
		Remaining: remaining,
	}
}

// Oldest returns the id that the next take would get, or false when the ring is
// empty.
func (r *Ring) Oldest() (id int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.current.Load()
	if left := s.from(atomic.LoadInt64(&r.position), 1); left.N > 0 {
		return left.First, true
	}
	if r.head == r.tail {
		return 0, false
	}
	return r.slots[r.head&uint64(len(r.slots)-1)].first(), true
}

// Drop removes all ids up to and including last from the ring, and returns them. They will never
// be dealt. Drop does not affect runs that are put later.
func (r *Ring) Drop(last int64) []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drop(last)
}

// drop is Drop with mu held. It works in two steps: what is left of the current
// span, then the runs that wait.
func (r *Ring) drop(last int64) []Run {
	var dropped []Run
	remove := func(run Run) {
		r.dropped += run.N
		if n := len(dropped); n > 0 && dropped[n-1].Last()+1 == run.First {
			dropped[n-1].N += run.N
			return
		}
		dropped = append(dropped, run)
	}
	if run := r.dropCurrent(last); run.N > 0 {
		remove(run)
	}
	for ; r.head != r.tail; r.head++ {
		slot := &r.slots[r.head&uint64(len(r.slots)-1)]
		waiting := *slot
		if last < waiting.first() {
			break
		}
		n := min(waiting.n-1, last-waiting.first()) + 1
		r.queued -= n
		remove(Run{waiting.first(), n})
		if n < waiting.n {
			*slot = &span{n: waiting.n - n, last: waiting.last, ring: r}
			break
		}
		*slot = nil
	}
	return dropped
}

// dropCurrent claims the rest of the current span up to last, as a taker would.
// It compares and swaps, because an add might go past the span's end.
func (r *Ring) dropCurrent(last int64) Run {
	s := r.current.Load()
	if s.n == 0 || last < s.first() {
		return Run{}
	}
	end := s.end() - max(0, s.last-last)
	for {
		at := atomic.LoadInt64(&r.position)
		if at-end >= 0 {
			return Run{}
		}
		if atomic.CompareAndSwapInt64(&r.position, at, end) {
			return s.from(at, end-at)
		}
	}
}

// Close drops all ids and returns them. From then on, Put returns [ErrClosed], and takers find the
// ring empty. No id at or above the first one returned was ever dealt, or ever will be. Every lower
// id that was put has already been dealt or dropped. Later calls return the same runs.
func (r *Ring) Close() []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.rest = r.drop(math.MaxInt64)
	}
	return r.rest
}
