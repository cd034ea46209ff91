// Package uid makes 64-bit ids that are unique across a fleet, sort by time and fit
// a BIGINT. An id costs no network call and no disk access.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// [Cached] is for most services. It deals ids that were made ahead of demand. [Default]
// stamps every id with the present, and waits when a tick's ids are used up. [Slots] never
// waits for a clock that stepped back; its ids have no order. All have the methods of
// [Generator] and are safe for concurrent use. [Backfill] makes ids of past times for rows
// that are migrated. Package segment, below this one, makes small ids without time from a
// counter in a database. Package uidclient deals the ids of a server.
//
// # What is unique
//
// An id is a tick, a worker number and a sequence, laid out by a [bits.Layout]. A
// generator issues each sequence of each tick at most once, and stamps only ticks
// that its [WorkerSource] grants. A Leaser, such as those of package worker, ensures that no two
// generators stamp the same tick under the same number. So all ids of one Layout with
// worker numbers from one database are unique. Ids of two layouts may be equal, and ids
// with numbers from two databases too. The tables of a Registry and of Leasers in one database
// remember their layout, and refuse a start with another.
//
// # What time an id carries
//
// Default stamps the present tick. Cached stamps ids at most CachedConfig.MaxAge behind the
// clock, by default a minute. It stamps them at most the ring's ticks ahead of the clock, by
// default 8 seconds. Under load beyond the layout's rate, it borrows future ticks, up to
// CachedConfig.MaxBorrow. If the clock steps ahead, ids follow, and never go back.
//
// When a layout has no ticks left, generators fail with [ErrTimeExhausted] and do not
// start. In the layout's last year, a start logs a warning, and Stats reports it. Without
// its lease, a generator fails with [ErrReservation] at the end of the reserved time.
//
// # What an id reveals
//
// An id shows when it was made and by which worker. Package opaque turns ids into tokens
// for public use.
//
// [PRODUCTION.md] says what happens in an outage, and how ids spread over shards.
// [MIGRATING.md] has the counterparts of uid-generator's names.
//
// [PRODUCTION.md]: https://github.com/uidring/uidring/blob/main/uid/PRODUCTION.md
// [MIGRATING.md]: https://github.com/uidring/uidring/blob/main/uid/MIGRATING.md
package uid
