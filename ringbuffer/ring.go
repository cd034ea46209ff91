package ringbuffer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/invalid"
)

var (
	// ErrFull is returned by Put when the ring has no room for the run. Retry later.
	ErrFull = errors.New("ringbuffer: full")

	// ErrOrder means that a run is empty, is longer than Config.RunLen, or is not above every id
	// already put.
	ErrOrder = errors.New("ringbuffer: misordered run")

	// ErrEmpty is returned by TryTake, and by Take if Config.RejectedTake is nil, when the ring is
	// empty.
	ErrEmpty = errors.New("ringbuffer: empty")

	// ErrClosed is returned by Put on a closed ring.
	ErrClosed = errors.New("ringbuffer: closed")

	// ErrConfig is matched by every error about a [Config].
	ErrConfig = invalid.ErrConfig
)

// A Run is the N ids First, First+1, …, First+N-1.
type Run struct {
	First int64 // 0 or more
	N     int64 // 0 for an empty run
}

// Last returns the greatest id of a run that is not empty.
func (r Run) Last() int64 { return r.First + (r.N - 1) }

// A span is a run that is dealt: the n positions before its end deal the n ids up to
// last. Once published, only next changes.
type span struct {
	delta int64 // last less the end; written under mu, before the span is published
	last  int64
	n     int64
	next  *span // published after this one; guarded by mu
	ring  *Ring
}

// end returns the position behind the span.
func (s *span) end() int64 { return s.last - s.delta }

// first returns the least id of a span that has ids.
func (s *span) first() int64 { return s.last - (s.n - 1) }

// from returns at most n ids of the span, from position at on. at does not lie
// before the span.
func (s *span) from(at, n int64) Run {
	left := s.end() - at
	if left <= 0 {
		return Run{}
	}
	return Run{s.last - (left - 1), min(n, left)}
}

// Ring is a bounded queue of ids in ascending order, for one producer at a time and any number of
// takers. Make one with [New]. All methods may be called from any goroutine.
type Ring struct {
	// position is what the next claim gets. Takers add to it, Drop moves it forward, nothing
	// moves it back; all atomically. It comes first and is no atomic.Int64, because the compiler
	// then counts less for Take: see "Why Take is inlined" in the design of package ringbuffer.
	// New puts a pad before the ring, whose size keeps the position aligned on 32-bit machines.
	position int64
	_        contention.Pad

	// current is the span being dealt. Takers read it; advance writes it, under mu,
	// once a run.
	current atomic.Pointer[span]

	// Constant from here to the pad, so that takers may share their line.
	rejectedTake func() (id int64, err error)
	low          chan struct{}
	capacity     int64 // in ids
	runLen       int64 // of the longest run
	threshold    int64 // in ids
	_            contention.Pad

	mu      sync.Mutex
	slots   []*span // the runs to be dealt, [head, tail) modulo len(slots)
	head    uint64
	tail    uint64
	queued  int64 // ids in slots
	last    int64 // greatest id ever put, -1 before the first
	put     int64 // ids ever put
	dropped int64 // ids ever dropped
	rest    []Run // what Close dropped
	closed  bool
}

const (
	maxCapacity = 1 << 62 // ids that a ring holds, so that sums stay in range
	maxRuns     = 1 << 20 // that a ring holds; one takes 56 bytes
	maxClaim    = 1 << 20 // positions that one claim may use up in vain
)

// Config configures a [Ring]. Zero fields take their default values.
type Config struct {
	// Runs is how many runs the ring holds: a power of two from 1 to 2^20. Zero means 8.
	Runs int64

	// RunLen is the maximum number of ids in a run: a power of two. Zero means 8192. The
	// capacity, Runs times RunLen, is at most 2^62.
	RunLen int64

	// Threshold is the number of ids below which the ring signals: see [Ring.Low]. If zero, the
	// ring signals only when a taker finds it empty.
	Threshold int64

	// RejectedTake decides what Take returns when the ring is empty. Take calls RejectedTake in the
	// calling goroutine, without holding a lock. RejectedTake may put a run into the ring and take
	// from it with TakeRun, or return an id from elsewhere. If RejectedTake is nil, Take fails with
	// ErrEmpty.
	RejectedTake func() (id int64, err error)
}

// New returns an empty ring. The error names every invalid field of the config, and matches
// [ErrConfig].
func New(config Config) (*Ring, error) {
	faults := invalid.Of("ringbuffer")
	config.Runs = cmp.Or(config.Runs, 8)
	config.RunLen = cmp.Or(config.RunLen, 8192)
	if !powerOfTwo(config.Runs) || config.Runs > maxRuns {
		faults.Add("Runs", config.Runs, fmt.Sprintf("a power of two from 1 to %d", maxRuns))
	}
	hi, capacity := bits.Mul64(uint64(config.Runs), uint64(config.RunLen))
	if !powerOfTwo(config.RunLen) || hi != 0 || capacity > maxCapacity {
		faults.Add("RunLen", config.RunLen, fmt.Sprintf("a power of two, whose product with Runs is at most %d", int64(maxCapacity)))
	}
	if config.Threshold < 0 {
		faults.Add("Threshold", config.Threshold, "0 or more")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if config.RejectedTake == nil {
		config.RejectedTake = func() (int64, error) { return 0, ErrEmpty }
	}
	r := &new(struct {
		_    contention.Pad
		ring Ring
	}).ring
	r.rejectedTake = config.RejectedTake
	r.low = make(chan struct{}, 1)
	r.slots = make([]*span, config.Runs)
	r.capacity = config.Runs * config.RunLen
	r.runLen = config.RunLen
	r.threshold = config.Threshold
	r.last = -1
	r.current.Store(&span{ring: r}) // without ids
	return r, nil
}

func powerOfTwo(n int64) bool { return n > 0 && n&(n-1) == 0 }

// Take returns the least id in the ring. When the ring is empty, Take returns
// what Config.RejectedTake returns.
func (r *Ring) Take() (id int64, err error) {
	return deal(takeOrReject, r.current.Load(), atomic.AddInt64(&r.position, 1))
}

// TryTake is like Take, but returns [ErrEmpty] when the ring is empty, and does not call
// RejectedTake.
func (r *Ring) TryTake() (id int64, err error) {
	return deal(takeOrFail, r.current.Load(), atomic.AddInt64(&r.position, 1))
}

// deal returns the id of the position before next in s, or what past returns if s ends
// before that position. s was published before the claim, so the claim does not lie
// before s. The comparison has no sign: see "Why no id is dealt twice".
func deal(past func(s *span, id int64) (int64, error), s *span, next int64) (id int64, err error) {
	id = next + s.delta
	if uint64(id) > uint64(s.last) {
		id, err = past(s, id)
	}
	return
}

// takeOrReject finishes a Take whose claim lies past the end of s.
func takeOrReject(s *span, id int64) (int64, error) {
	if run := s.ring.takeClaimed(s, id-s.delta-1, 1); run.N > 0 {
		return run.First, nil
	}
	return s.ring.rejectedTake()
}

// takeOrFail finishes a TryTake whose claim lies past the end of s.
func takeOrFail(s *span, id int64) (int64, error) {
	if run := s.ring.takeClaimed(s, id-s.delta-1, 1); run.N > 0 {
		return run.First, nil
	}
	return 0, ErrEmpty
}

// TakeRun claims up to limit ids, but never more than 2^20, in one step. All of them come from the
// run being dealt. The result is empty only if the ring is empty or limit is below 1. TakeRun does
// not call RejectedTake.
func (r *Ring) TakeRun(limit int64) Run {
	if limit <= 0 {
		return Run{}
	}
	n := min(limit, r.runLen, maxClaim)
	s := r.current.Load()
	// Check first, so that polling an empty ring claims no positions.
	if atomic.LoadInt64(&r.position)-s.end() >= 0 {
		return r.takeNext(n)
	}
	// As in Take, s was published before the claim.
	at := atomic.AddInt64(&r.position, n) - n
	if run := s.from(at, n); run.N > 0 {
		return run
	}
	return r.takeClaimed(s, at, n)
}

// takeClaimed returns what a claim of n positions from at covers, or takes anew.
// s was current before the claim, and ends before at.
func (r *Ring) takeClaimed(s *span, at, n int64) Run {
	contention.Lock(&r.mu)
	run, low := r.find(s, at, n), false
	if run.N == 0 {
		run, low = r.advance(n)
	}
	r.mu.Unlock()
	if low {
		r.signalLow()
	}
	return run
}

// takeNext takes from the run that is being dealt, or else from the next run.
func (r *Ring) takeNext(n int64) Run {
	contention.Lock(&r.mu)
	run, low := r.advance(n)
	r.mu.Unlock()
	if low {
		r.signalLow()
	}
	return run
}

// find returns the ids of the claim in the spans published after s. At most one
// span has any: see "Why none is lost". Call find with mu held, so that no span is
// published meanwhile.
func (r *Ring) find(s *span, at, n int64) Run {
	for s = s.next; s != nil && at-(s.end()-s.n) >= 0; s = s.next {
		if run := s.from(at, n); run.N > 0 {
			return run
		}
	}
	return Run{}
}

// advance claims n positions. If they lie past the current span, advance publishes
// the next run as a span that starts there. It returns the ids of the claim, none
// if the ring is empty, and whether the ring is low. Call it with mu held.
func (r *Ring) advance(n int64) (run Run, low bool) {
	s := r.current.Load()
	if r.head == r.tail && atomic.LoadInt64(&r.position)-s.end() >= 0 {
		return Run{}, true // empty: nothing is claimed
	}
	at := atomic.AddInt64(&r.position, n) - n
	if run := s.from(at, n); run.N > 0 {
		return run, false
	}
	if r.head == r.tail {
		return Run{}, true // another taker claimed the last ids
	}
	// Every position below at is claimed, and this goroutine owns at.
	slot := &r.slots[r.head&uint64(len(r.slots)-1)]
	next := *slot
	*slot = nil
	r.head++
	r.queued -= next.n
	next.delta = next.last - (at + next.n)
	s.next = next
	// Publishing hands the positions [at, next.end()) to the takers.
	r.current.Store(next)
	return next.from(at, n), r.queued < r.threshold
}

func (r *Ring) signalLow() {
	select {
	case r.low <- struct{}{}:
	default: // the last signal has not been read
	}
}

// Low returns a channel on which the ring signals when a taker finds the ring empty, and when the
// ring starts to deal a run followed by fewer than Threshold ids. The channel buffers one signal,
// is never closed, and is meant for one reader.
func (r *Ring) Low() <-chan struct{} { return r.low }

// Put appends a run, whose ids must be greater than every id already put. If Put fails, with
// [ErrFull], [ErrClosed] or an error that matches [ErrOrder], the ring is unchanged.
func (r *Ring) Put(run Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return ErrClosed
	case run.N < 1 || run.N > r.runLen || run.First < 0 || run.First > math.MaxInt64-(run.N-1):
		return fmt.Errorf("%w: %d ids from %d, want 1 to %d ids, the first 0 or more", ErrOrder, run.N, run.First, r.runLen)
	case run.First <= r.last:
		return fmt.Errorf("%w: starts at %d, want more than %d, the last put", ErrOrder, run.First, r.last)
	case run.N > r.capacity-r.remaining() || r.tail-r.head == uint64(len(r.slots)):
		return ErrFull
	}
	r.slots[r.tail&uint64(len(r.slots)-1)] = &span{n: run.N, last: run.Last(), ring: r}
	r.tail++
	r.queued += run.N
	r.put += run.N
	r.last = run.Last()
	return nil
}
