// Package uid generates 64-bit ids that are unique across a fleet, sort by time and fit in a
// BIGINT. Drawing an id normally needs neither the network nor a disk.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Most services want [Cached], which deals ids from a ring that it fills ahead of demand. [Default]
// stamps every id with the current time; once a tick (by default, a second) is used up, Default
// waits for the next. [Slots] never waits for a clock that stepped back, but its ids are unordered.
// All three implement [Generator] and are safe for concurrent use. [Backfill] makes ids with past
// times for migrated rows. Package segment draws small ids, which carry no time, from a database
// counter, and package uidclient deals ids that it fetches from a server.
//
// # What is unique
//
// An id consists of a tick (by default, a second), a worker number and a sequence number, laid
// out by a [bits.Layout]. A generator uses each sequence number of each tick at most once, and
// stamps ids only with ticks that its [WorkerSource] grants. Sources, such as those of package
// worker, never grant two generators the same tick with the same number. So all ids with the same
// Layout are unique if their worker numbers come from the same database. Ids with different
// layouts can collide, and so can ids whose worker numbers come from different databases. A
// database remembers the layout of its first generator. Generators whose config states no layout use
// it, and those that state another are refused.
//
// # What time an id carries
//
// These are the limits with the defaults, measured by a test. The rate is the layout's: 65,536 ids a
// second by default.
//
//	                                                 Cached           Default
//	oldest id                                        1m               0s
//	older after a jump, for                          7.5s             -
//	furthest ahead, at the rate                      8s               0s
//	furthest ahead, above                            24h              -
//	store down, at a tenth of the rate               10m30s to 11m1s  9m45s to 10m1s
//	store down, at the rate                          9m45s to 10m5s   9m45s to 10m1s
//	store down, at three times the rate              3m5s to 3m25s    -
//	store down, Assigner, at a tenth of the rate     1m25s to 2m5s    45s to 1m1s
//	store down, Assigner, at the rate                49s to 1m6s      45s to 1m1s
//	store down, Assigner, at three times the rate    12s to 25s       -
//
// Cached drops ids older than CachedConfig.MaxAge every MaxAge/8. When the clock jumps ahead, or a
// paused process continues, ids can be older by the length of the jump until the next check; Default
// reads the wall clock ten times a second. At the rate, Cached's ring is ahead of the clock; above the
// rate, Cached borrows future ticks, up to CachedConfig.MaxBorrow, while Default waits. If the clock
// jumps forward, ids jump with it, and do not go back when the clock does.
//
// While the store is down, calls succeed until the reserved time ends: lease.Config.Window after the
// last renewal, which was up to a quarter of Expiry ago. Above the rate, the reserved time ends sooner;
// below it, the ids in Cached's ring last for up to MaxAge more. With an Assigner, Window defaults to
// Expiry, a minute. Slots has no such limits: it continues with the unused ids of older ticks.
//
// Once a layout has no ticks left, generators fail with [ErrTimeExhausted], and new ones do not
// start. In the layout's last year, generators log a warning when they start, and Stats reports the
// approaching end. A generator that cannot renew its lease fails with [ErrReservation] when the
// reserved time runs out.
//
// # Configs and constructors
//
// In a config, zero fields take their default values, [Unlimited] means no limit, and [None] allows
// nothing. Validate names every invalid field. The constructor of a generator can return an error;
// those of its parts, such as a Leaser or a store, do not, so that calls can nest: the generator's
// constructor reports whatever is invalid in its parts. To match an error, use errors.Is.
//
// # What an id reveals
//
// An id shows when it was made and by which worker. Package opaque turns ids into tokens
// for public use.
//
// [docs/reliability.md] describes the outcome of each failure, [docs/databases.md] explains how
// ids spread over shards, and [docs/migrating.md] maps the names of Baidu's uid-generator to this
// package's.
//
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
// [docs/databases.md]: https://github.com/uidring/uidring/blob/main/docs/databases.md
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md
package uid
