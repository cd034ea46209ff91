// Package segment makes ids from a counter: small, dense, ascending within a
// process, and unique among all processes that share a store. Each generator
// reserves ranges of the counter ahead of demand. An id costs no network call,
// and as little as one of [uid.Cached].
//
//	gen, err := segment.New(ctx, segmentsql.LeafAlloc(db), "orders", segment.Config{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Use it for order numbers, invoices and keys that should stay short. Such ids
// carry no time and no worker. The ids of two processes interleave by ranges: a
// later id of one process may be smaller than an earlier id of the other. Gaps
// are rare but possible: see below.
//
// [New] makes ids from one counter, [NewTags] from many, and [Stripe] from one
// that several stores share.
//
// # Ranges
//
// The next range is loaded when Config.LoadAt per cent of the current range are
// used. Its size follows the measured rate, so that a range lasts Config.Ahead:
// ids continue for about that long while the store is away. Loads run in a
// goroutine of their own, one at a time. Calls block only while no id is
// loaded.
//
// # Gaps
//
// Close returns unused ids to the store, if no other process has reserved a
// range since. So restarting the only process leaves no gap. A crash leaves a
// gap of up to two ranges, which is 2 × Ahead: at a steady rate and the default
// Ahead, one crash a day loses up to 1.4 % of a process's ids. So does a load or a
// Close without an answer. Gaps never cause a repeat.
//
// # A store that goes back
//
// A counter must never go back. If a store is restored from a backup, or fails
// over to a replica without the last writes, it hands out ranges again. A
// generator refuses ranges that are not above its own last range, with
// [ErrRewound]. A process that has restarted, or that had loaded only lower
// ranges, cannot notice. The ids from the restored counter up to the highest
// that was ever reserved can repeat. After a restore, stop the processes, and
// raise each counter above the highest id in use: uidring segments set TAG
// --at-least N.
package segment
