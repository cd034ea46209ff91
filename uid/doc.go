// Package uid makes 64-bit ids that are unique across a fleet, sort by time and fit
// a BIGINT. An id costs no network call and no disk access.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// # Generators
//
// [Cached] is for most services. It deals ids that were made ahead of demand,
// at little more than the cost of an atomic add. [Default] stamps every id with
// the present: it reads the clock for each id, and waits when a tick's ids are
// used up. [Slots] never waits for a clock that stepped back; its ids are
// unique but not ordered. Package segment, below this one, makes small ids
// without time from a counter in a database, and package uidclient deals the
// ids of a server. [Backfill] is no generator: it makes ids of past times for
// rows that are migrated.
//
// All are safe for concurrent use. Generators have the methods of [Generator]:
// Next for an id now, Wait with a context, All for range loops. Cached and Default
// keep order: a call that ends before another call begins returns smaller ids.
//
// # What is unique
//
// An id is a tick, a worker number and a sequence, laid out by a [bits.Layout]. A
// generator issues each sequence of each tick at most once, and stamps only ticks
// that its [Leaser] grants. A Leaser ensures that no two generators stamp the same
// tick under the same number. Package worker has two on SQL databases: a Registry
// gives each number once; a Leaser gives a number again when its holder has stopped
// or crashed.
//
// So all ids of one Layout with worker numbers from one database are unique. Ids of
// two layouts may be equal: a store remembers its layout, and refuses another. Ids with
// numbers from two databases may be equal too.
//
// # What time an id carries
//
// Default stamps the present tick. While the clock is more than
// DefaultConfig.MaxBackward behind the last id, Default fails.
//
// The time in an id of Cached lies between two bounds:
//
//   - At most CachedConfig.MaxAge behind the clock, which is a minute by default.
//     Older ids are dropped, and the ring is filled with the present.
//   - At most the ring's ticks ahead of the clock: 8 seconds by default. Under load
//     beyond the layout's rate, Cached borrows future ticks, up to CachedConfig.MaxBorrow.
//
// It never goes back. If the clock steps ahead, ids follow, and stay ahead when the clock
// returns.
//
// # How a generator ends
//
// Close ends every wait, drops the ids in the ring, and gives a leased number back.
// The next holder may use the time of the dropped ids. Close waits for [CloseTimeout]
// at most; Shutdown takes a context instead.
//
// When a layout has no ticks left, generators fail with [ErrTimeExhausted] and
// do not start. No id is ever negative. In the layout's last year, a generator
// logs a warning when it starts, and Stats reports it.
//
// Without its lease, a generator fails with [ErrReservation] at the end of the reserved
// time. [PRODUCTION.md] says what happens then, and how ids spread over shards by id % n.
//
// # What an id reveals
//
// An id shows when it was made and by which worker. Two ids show roughly how many
// were made in between. Ids are easy to guess: do not use them as secrets. Package
// opaque turns ids into tokens for public use.
//
// # Around it
//
// Package uidgorm fills primary keys. Package uidstatus is a status page of
// generators; uidprom exports the same as metrics of Prometheus, which OpenTelemetry's
// bridge reads too. [MIGRATING.md] has the counterparts of uid-generator's names.
//
// [PRODUCTION.md]: https://github.com/uidring/uidring/blob/main/uid/PRODUCTION.md
// [MIGRATING.md]: https://github.com/uidring/uidring/blob/main/uid/MIGRATING.md
package uid
