// Package uid makes 64-bit ids that are unique across a fleet, sort by time, fit
// a BIGINT and cost little to get: no network and no disk for an id, and with
// [Cached] no clock and little more than an atomic add.
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Use [Cached] unless every id has to carry the very second at which it was
// asked for; then use [Default]. Both stamp ids laid out as [bits.Layout] says,
// under a worker number that an [Assigner] gives them when they start. Both are
// safe for concurrent use and issue an id that is greater than those of all
// calls that ended before its own began.
//
// # What is unique
//
// An id is a tick, a worker and a sequence. A generator issues each sequence of
// each tick at most once: how, package ringbuffer shows for Cached; Default
// moves (tick, sequence) upwards by compare-and-swap. No two generators share a
// worker number, or not for the same ticks: that is what the Assigner answers for.
// Package worker takes numbers from a database. A Registry uses each of them
// once; a Leaser's come back, and a generator then stamps no tick but those that
// are granted to it: [Leaser] tells how.
//
// Unique are thus all ids of one Layout under one authority for worker numbers.
// Ids of two layouts, or of two databases that number workers, may be equal.
//
// # What time an id carries
//
// Cached stamps ids ahead of demand. The next tick that it fills is the one
// after the last, or the present one if that is later: time catches up after
// idling and never goes back. A clock that steps back goes unnoticed, and one
// that steps ahead takes the ids with it for good. Under load ids are stamped
// ahead of the clock, by Config.MaxBorrow at most. Without load they wait: an id
// is as old as the time that it lay in the ring, unless Config.MaxAge bounds
// that.
//
// Default stamps the present tick. It waits when the tick's ids are used up, and
// refuses while the clock stands before its last id.
//
// # How a generator ends
//
// A layout ends when its ticks do: [ErrTimeExhausted], and never a negative id.
// A generator whose layout has run out does not start; a start in the layout's
// last year says so in the log, and Stats says so all the time. Close ends a
// generator with all that it started, and the ids in the ring become a gap. A leased number is
// given back with the time that those ids would have carried.
//
// A generator whose leased number cannot be renewed goes on to the end of what is
// reserved, then fails with [ErrReservation] until it can. One that has lost its
// number drops what is in the ring and goes on under another, upwards.
//
// # What an id reveals
//
// Whoever sees an id can read when it was made, by which worker, and, from two
// of them, roughly how many were made in between. Ids are easy to guess. Neither
// is a fault in a primary key; do not use one as a secret. Package opaque makes of
// them what may be shown outside.
//
// # Around it
//
// Package uidgorm gives rows their keys. [ID.Base32] and [ID.Base62] are shorter
// texts that sort as the ids do, and package opaque makes tokens for the outside.
// Package uidhttp is a page that shows where a generator stands, and uidprom the
// same as metrics. MIGRATING.md, beside this file, is for those who come from
// uid-generator.
package uid
