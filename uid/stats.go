package uid

import (
	"errors"
	"time"
)

// Stats are the counts and the state of a generator. Reading them each second is
// cheap, and slows no call down. Ids issued meanwhile may be missing.
type Stats struct {
	Worker        int64         // number under which ids are stamped
	WorkerChanges int64         // times that a leased number was lost and another taken
	Issued        int64         // ids issued
	RejectedTakes int64         // calls that failed
	Waited        time.Duration // sum of the waits of all calls
	Closed        bool          // no further ids are made

	LayoutEnd      time.Time // first instant that the layout cannot stamp
	LayoutEndsSoon bool      // LayoutEnd is less than a year away

	ReservedUntil time.Time // end of the time that may be stamped under a leased number; zero is no end
	LeaseError    error     // why no more time is reserved; nil while reserving works

	// The rest is zero for Default, Slots and Backfill, which have no ring.

	Capacity     int64         // ids that the ring holds when full
	Threshold    int64         // the executor fills a ring with fewer ids
	Remaining    int64         // ids in the ring
	OldestAge    time.Duration // since the time that the next id carries; negative if that is yet to come
	Dropped      int64         // ids dropped for their age, with a lost number, or by Close
	Refills      int64         // times that the executor filled the ring
	Helps        int64         // ticks that takers put because the ring was empty
	RejectedPuts int64         // ticks whose ids were dropped; see CachedConfig.RejectedPut
	MaxBorrow    time.Duration // CachedConfig.MaxBorrow; negative is no bound
	MaxAge       time.Duration // CachedConfig.MaxAge; negative is no bound
	Borrowed     time.Duration // how far the last tick in the ring is ahead of the clock
	LastError    error         // why the ring could not be filled; nil once it is full
}

// Failing reports whether the ring cannot be filled. It is false while the ring only waits
// for the clock, or for a reservation that is under way.
func (s Stats) Failing() bool {
	if reservation := (*ReservationError)(nil); errors.As(s.LastError, &reservation) {
		return reservation.Err != nil
	}
	return s.LastError != nil && !errors.Is(s.LastError, ErrBorrowLimit)
}

// standing is the part of Stats that every generator of clocked ids has.
func (s *stamp) standing(g *gate) Stats {
	w := s.grant.Load()
	return Stats{
		Worker:         w.worker,
		Waited:         time.Duration(g.waited.Load()),
		WorkerChanges:  s.changes.Load(),
		Closed:         g.closed.Load(),
		ReservedUntil:  w.until,
		LeaseError:     w.err,
		LayoutEnd:      s.end,
		LayoutEndsSoon: s.endsSoon(s.now()),
	}
}

// Stats returns the generator's counts and state.
func (g *Cached) Stats() Stats {
	s := g.standing(&g.gate)
	counts, padded := g.ring.Counts(), g.executor.Stats()
	s.Issued = counts.Taken
	s.RejectedTakes = g.rejected.Load()
	s.Capacity = g.ring.Capacity()
	s.Threshold = g.ring.Threshold()
	s.Remaining = counts.Remaining
	if id, ok := g.ring.Oldest(); ok {
		parts, _ := g.bits.Parse(id)
		s.OldestAge = g.now().Sub(parts.Time)
	}
	s.Dropped = counts.Dropped
	s.Refills = padded.Refills
	s.Helps = padded.Helps
	s.RejectedPuts = padded.RejectedPuts
	s.MaxBorrow = g.ticks.maxBorrow
	s.MaxAge = g.ticks.maxAge
	s.Borrowed = g.ticks.borrowed()
	s.LastError = padded.LastError
	return s
}
