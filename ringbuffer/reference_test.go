package ringbuffer_test

import (
	"math"

	"github.com/uidring/uidring/ringbuffer"
)

// reference is the ring as plainly as it can be said, for one goroutine: a slice. The
// first run is the one being dealt once dealing is true.
type reference struct {
	runs     []ringbuffer.Run
	dealing  bool
	slots    int
	capacity int64
	runLen   int64
	last     int64
	counts   ringbuffer.Counts
	rest     []ringbuffer.Run
	closed   bool
}

func newReference(runs, runLen int64) *reference {
	return &reference{slots: int(runs), capacity: runs * runLen, runLen: runLen, last: -1}
}

func (r *reference) waiting() int {
	if r.dealing {
		return len(r.runs) - 1
	}
	return len(r.runs)
}

func (r *reference) Put(run ringbuffer.Run) error {
	switch {
	case r.closed:
		return ringbuffer.ErrClosed
	case run.N < 1 || run.N > r.runLen || run.First < 0 || run.First > math.MaxInt64-(run.N-1) || run.First <= r.last:
		return ringbuffer.ErrOrder
	case r.counts.Remaining+run.N > r.capacity || r.waiting() == r.slots:
		return ringbuffer.ErrFull
	}
	r.runs = append(r.runs, run)
	r.last = run.Last()
	r.counts.Put += run.N
	r.counts.Remaining += run.N
	return nil
}

func (r *reference) Take() (int64, error) {
	run := r.TakeRun(1)
	if run.N == 0 {
		return 0, ringbuffer.ErrEmpty
	}
	return run.First, nil
}

func (r *reference) TakeRun(limit int64) ringbuffer.Run {
	if limit <= 0 || len(r.runs) == 0 {
		return ringbuffer.Run{}
	}
	r.dealing = true
	n := min(limit, r.runLen, r.runs[0].N)
	run := ringbuffer.Run{First: r.runs[0].First, N: n}
	r.cut(n)
	r.counts.Taken += n
	return run
}

// cut removes n ids from the first run.
func (r *reference) cut(n int64) {
	r.counts.Remaining -= n
	r.runs[0].First += n
	r.runs[0].N -= n
	if r.runs[0].N == 0 {
		r.runs = r.runs[1:]
		r.dealing = false
	}
}

func (r *reference) Drop(last int64) (dropped []ringbuffer.Run) {
	for len(r.runs) > 0 && r.runs[0].First <= last {
		first, n := r.runs[0].First, min(r.runs[0].N-1, last-r.runs[0].First)+1
		r.cut(n)
		r.counts.Dropped += n
		if i := len(dropped) - 1; i >= 0 && dropped[i].First+dropped[i].N == first {
			dropped[i].N += n
			continue
		}
		dropped = append(dropped, ringbuffer.Run{First: first, N: n})
	}
	return dropped
}

func (r *reference) Close() []ringbuffer.Run {
	if !r.closed {
		r.closed = true
		r.rest = r.Drop(math.MaxInt64)
	}
	return r.rest
}

func (r *reference) HasRoom() bool {
	return !r.closed && r.counts.Remaining+r.runLen <= r.capacity && r.waiting() < r.slots
}

func (r *reference) Oldest() (int64, bool) {
	if len(r.runs) == 0 {
		return 0, false
	}
	return r.runs[0].First, true
}

func (r *reference) Counts() ringbuffer.Counts {
	return r.counts
}
