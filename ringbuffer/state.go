package ringbuffer

import "math"

// Capacity returns how many ids fit into the ring: a power of two, the same
// before and after the first take.
func (r *Ring) Capacity() int64 { return r.capacity }

// Threshold returns the number of ids below which the ring asks to be filled.
func (r *Ring) Threshold() int64 { return r.threshold }

// Remaining returns how many ids can be taken before the ring is empty. With
// takers under way the answer is about a moment that has passed.
func (r *Ring) Remaining() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remaining()
}

// remaining is called with mu held.
func (r *Ring) remaining() int64 {
	return r.queued + r.undealt()
}

// undealt returns how many ids of the current span have not been claimed. It is
// called with mu held.
func (r *Ring) undealt() int64 {
	s := r.current.Load()
	return max(0, s.end-r.position.Load())
}

// HasRoom reports whether a run of the greatest length fits. While only one
// goroutine puts, a Put of such a run then succeeds.
func (r *Ring) HasRoom() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && r.runLen <= r.capacity-r.remaining() && r.tail-r.head < uint64(len(r.slots))
}

// Counts are the totals of a ring, all of one moment: Put is the sum of the
// others.
type Counts struct {
	Put       int64 // ids ever put
	Taken     int64 // ids ever taken
	Dropped   int64 // ids ever dropped, by Drop or Close
	Remaining int64 // ids in the ring
}

// Counts returns the totals of the ring. Nothing is counted for each id: what
// was taken is what was put and is neither dropped nor there.
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
	if left := s.from(r.position.Load(), 1); left.N > 0 {
		return left.First, true
	}
	if r.head == r.tail {
		return 0, false
	}
	return r.slots[r.head&uint64(len(r.slots)-1)].first(), true
}

// Drop removes all ids up to and including last that are in the ring, and returns
// how many that were. They are never dealt. What is put later is not affected.
func (r *Ring) Drop(last int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.dropped
	r.drop(last)
	return r.dropped - before
}

// drop returns the least id that it drops, or -1. It is called with mu held.
func (r *Ring) drop(last int64) (first int64) {
	first = -1
	s := r.current.Load()
	if s.n > 0 && last >= s.first() {
		// Claims the positions up to end, as a taker would, unless takers were
		// faster. Compare-and-swap, because an Add might overshoot.
		end := s.end - max(0, s.last-last)
		for {
			at := r.position.Load()
			if at-end >= 0 {
				break
			}
			if r.position.CompareAndSwap(at, end) {
				r.dropped += end - at
				first = s.from(at, 1).First
				break
			}
		}
	}
	for ; r.head != r.tail; r.head++ {
		slot := &r.slots[r.head&uint64(len(r.slots)-1)]
		waiting := *slot
		if last < waiting.first() {
			break
		}
		if first < 0 {
			first = waiting.first()
		}
		n := min(waiting.n-1, last-waiting.first()) + 1
		r.queued -= n
		r.dropped += n
		if n < waiting.n {
			*slot = &span{n: waiting.n - n, last: waiting.last}
			break
		}
		*slot = nil
	}
	return first
}

// Close drops all ids and refuses further ones. Takers then find the ring empty.
// It returns the least id that it dropped: neither that id nor one above it has
// been dealt or ever will be, and every id below it that was put has been dealt or
// dropped before. It is -1 if there was none to drop. Close may be called more
// than once, and says the same every time.
func (r *Ring) Close() (first int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.rest = r.drop(math.MaxInt64)
	}
	return r.rest
}
