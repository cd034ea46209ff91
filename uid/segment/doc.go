// Package segment makes ids from a counter: small, dense, ascending within a
// process, and unique among all processes that share a store. Each generator
// reserves ranges of the counter ahead of demand. An id costs no network call.
//
//	gen, err := segment.New(ctx, segmentsql.LeafAlloc(db), "orders", segment.Config{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Use it for order numbers, invoices and keys that should stay short. Such ids
// carry no time and no worker. The ids of two processes interleave by ranges: a
// later id of one process may be smaller than an earlier id of the other. Ids can
// have gaps: see below.
//
// [New] makes ids from one counter, [NewTags] from many, and [Stripe] from one
// that several stores share.
//
// # Ranges
//
// A generator loads the next range when Config.LoadAt per cent of the current range
// are used. The size of a range follows the measured rate, so that it lasts
// Config.Ahead: if the store is away, ids continue for nearly that long. Loads run in
// a goroutine of their own, one at a time. Calls block only while no id is loaded.
//
// # Gaps
//
// Close returns unused ids to the store, unless another process has reserved a
// range since. So a restart of the only process leaves no gap. A crash leaves a gap
// of up to two ranges, the ids of 2 × Ahead. At a steady rate and the default Ahead,
// one crash a day loses up to 1.4 % of a process's ids. A load or a Close that gets
// no answer from the store can leave such a gap too. No gap causes a repeat.
//
// # A store that goes back
//
// A counter must never go back. A store that is restored from a backup, or fails
// over to a replica without the last writes, hands out ranges again. A generator
// refuses a range that is not above its own last range, with [ErrRewound]. A process
// that has restarted, or that had loaded only lower ranges, cannot notice: ids from
// the restored counter up to the highest reserved id can repeat. After a restore,
// stop the processes, and raise each counter above the highest id in use: uidring
// segments set TAG --at-least N.
package segment
