// Package uid makes 64-bit ids that are unique across a fleet, sort by time and fit
// a BIGINT. Making an id needs neither the network nor a disk.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Most services use [Cached], which deals ids that were made ahead of demand. [Default]
// stamps every id with the present, and waits when a tick's ids are used up. [Slots] never
// waits for a clock that stepped back, but its ids are unordered. All three implement
// [Generator] and are safe for concurrent use. [Backfill] makes ids of past times for rows
// that are migrated. Package segment draws small ids without a time from a counter in a
// database, and package uidclient deals ids that it fetches from a server.
//
// # What is unique
//
// An id consists of a tick, a worker number and a sequence, laid out by a [bits.Layout]. A
// generator issues each sequence of each tick at most once, and stamps only ticks
// that its [WorkerSource] grants. A source, such as those of package worker, ensures that no two
// generators stamp the same tick under the same number. All ids of one Layout are therefore
// unique if their worker numbers come from one database. Ids of two layouts can be equal, and so
// can ids whose numbers come from two databases. The tables of a Registry and of Leasers in one
// database remember their layout, and refuse a start with another.
//
// # What time an id carries
//
// Default stamps the present tick. Cached stamps ids at most CachedConfig.MaxAge behind the
// clock, one minute by default, and at most the ring's ticks ahead of the clock, 8 seconds by
// default. Under load beyond the layout's rate, Cached borrows future ticks, up to
// CachedConfig.MaxBorrow. If the clock jumps forward, ids jump with it, and never go back.
//
// Once a layout has no ticks left, generators fail with [ErrTimeExhausted], and new ones do not
// start. In the layout's last year, a start logs a warning, and Stats reports the approaching
// end. A generator that cannot renew its lease fails with [ErrReservation] when the reserved time
// ends.
//
// # Configs and constructors
//
// The zero fields of a config are defaults, [Unlimited] and [None] stand for no limit and for
// nothing, and Validate names every wrong field. A constructor whose value is used as it is, such
// as a generator, returns an error. A constructor whose value goes to another call, such as a
// Leaser or a store, returns none, so that calls nest: that call returns its error.
//
// # What an id reveals
//
// An id shows when it was made and by which worker. Package opaque turns ids into tokens
// for public use.
//
// [docs/production.md] describes what happens in an outage, and how ids spread over shards.
// [docs/migrating.md] maps uid-generator's names to those of this package.
//
// [docs/production.md]: https://github.com/uidring/uidring/blob/main/docs/production.md
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md
package uid
