package uid

import (
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
)

// Reporter is a generator whose [Stats] uidprom.New exports and uidstatus.New shows. Every generator
// of uidring is a Reporter, except segment.Tags, which holds a generator for each tag. Stats must be
// safe for concurrent use, and must not block.
type Reporter interface{ Stats() Stats }

// Stats holds the counts and state of any kind of generator. Reading it does not slow calls down.
// Calls in flight may be missing from the counts.
type Stats struct {
	Issued        int64         // ids issued
	Starved       int64         // calls that found no id ready; Default, Slots and Backfill do not count them
	RejectedTakes int64         // calls that failed
	Waited        time.Duration // total time that calls have waited
	Remaining     int64         // ids that are ready in memory
	Dropped       int64         // ids dropped because of age, a lost number, or Close; 0 for segments
	Closed        bool          // no more ids are made
	LastError     error         // why no more ids can be made ready; for Default, Slots and Backfill, why calls fail now

	Clock *ClockStats // for generators whose ids carry time; otherwise nil
	Ring  *RingStats  // for Cached; otherwise nil
	Loads *LoadStats  // nil except for segment.Counter and uidclient.Client; see segment.Striped.Stores
}

// ClockStats is the part of [Stats] that describes the time and the worker number in ids.
type ClockStats struct {
	Layout         bits.Layout
	LayoutEnd      time.Time // end of the layout's last tick
	LayoutEndsSoon bool      // LayoutEnd is less than a year away

	Worker        int64     // number under which ids are stamped; -1 before there is one
	WorkerChanges int64     // number of times that a leased number was lost and another taken
	ReservedUntil time.Time // end of the time that is reserved under a leased number; zero means no end
	LeaseError    error     // why no more time is reserved; nil while reservations succeed
}

// RingStats is the part of [Stats] that describes a ring.
type RingStats struct {
	Capacity     int64         // ids that the ring holds when full
	Threshold    int64         // below this many ids, the executor fills the ring
	OldestAge    time.Duration // how far the time of the next id is behind the clock; negative if ahead
	MaxAge       time.Duration // CachedConfig.MaxAge
	Borrowed     time.Duration // how far the last tick put into the ring is ahead of the clock
	MaxBorrow    time.Duration // CachedConfig.MaxBorrow
	Refills      int64         // number of times that the executor filled the ring
	Helps        int64         // ticks added to the ring by calls that found it empty
	RejectedPuts int64         // ticks whose ids were dropped; see CachedConfig.RejectedPut
}

// LoadStats is the part of [Stats] that describes ranges of ids from a store or a server.
type LoadStats struct {
	From     string // the store, or the server that answered last
	Tag      string // the counter in the store, or the server's generator
	Instance string // the instance of the server that answered; empty for a store
	Changes  int64  // number of times that the instance has changed

	InUse   Run           // the range that ids come from; in segment.Striped.Stores, a range of the counter, not of ids
	Next    Run           // the range after InUse; empty until it is loaded. A client has neither range
	Loading time.Duration // how long the load in flight has taken; 0 if none

	LastSize int64         // ids in the last load
	Requests int64         // requests for ids
	Failures int64         // requests that failed
	LoadTime time.Duration // how long the last request took; for a client, the last that was answered
	Returned int64         // ids that Close gave back to the store
}

// String returns the fields, so that [Stats] can be logged.
func (s *ClockStats) String() string { return fmt.Sprintf("%+v", *s) }

// String returns the fields, so that [Stats] can be logged.
func (s *RingStats) String() string { return fmt.Sprintf("%+v", *s) }

// String returns the fields, so that [Stats] can be logged.
func (s *LoadStats) String() string { return fmt.Sprintf("%+v", *s) }

// Failing reports whether no further ids can be made, though some may be ready. A generator at
// its MaxBorrow is not failing, and neither is one waiting for a reservation in flight.
func (s Stats) Failing() bool {
	if reservation := (*ReservationError)(nil); errors.As(s.LastError, &reservation) {
		return reservation.Err != nil
	}
	return s.LastError != nil && !errors.Is(s.LastError, ErrBorrowLimit)
}
