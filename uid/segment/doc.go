// Package segment makes ids from a counter: small, dense, ascending within a
// process, and unique among all processes that share a store. A counter has a name in its store,
// the tag. Each generator reserves ranges of consecutive ids ahead of demand, so an id costs no
// network call.
//
//	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Such ids carry no time and no worker. The ids of two processes interleave by ranges. For
// numbers without a gap, such as those of invoices, package segmentsql has NextGapless.
//
// [New] makes ids from one counter, [NewTags] from many, and [NewStriped] from one
// that several stores share. An id is a [uid.ID], which JSON has as a string: "1". For
// a number, give the field the type int64 and set it to int64(id).
//
// # Ranges and gaps
//
// A generator loads the next range ahead of demand, in a size that follows the measured
// rate: see Config.LoadAt and Config.Ahead. Calls block only while no id is loaded.
//
// Close returns unused ids to the store, unless another process has reserved a range since.
// A crash leaves a gap of up to two ranges, and so can a load or a Close that gets no answer
// from the store. At a steady rate and the default Ahead, one crash a day loses up to
// 1.4 % of a process's ids.
//
// # A store that goes back
//
// A counter must never go back. A store that is restored from a backup, or fails
// over to a replica without the last writes, hands out ranges again. A generator
// refuses a range that is not above its own last range, with [uid.ErrRewound]. A process
// cannot detect this after a restart, or if its last range lies below the restored
// counter. After a restore, stop the processes, and raise each counter above the highest id
// in use: uidring segments set TAG --at-least N.
//
// # New beside Striped
//
// New and NewTags use the counter "orders"; a [Striped] uses others, such as "orders 1/2 x1000". Both
// count from 1, so their ids would repeat. Each lists the store's counters at its start, and fails
// with [ErrConfig] if it finds one of the other kind. With Create, NewStriped also makes the counter
// "orders", with no id left: if both start together, at most one of them gets it. A
// start does not see counters of other stores, nor those of a [Store] that is not a [Lister].
// [docs/migrating.md] shows how to go from New to Striped.
//
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md#from-new-to-striped
package segment
