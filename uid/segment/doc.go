// Package segment makes ids from a counter in a store. The ids are small and dense, are unique
// among all processes that share the store and, except with NewStriped, ascend within each
// generator. A counter's name is its tag. Each generator reserves ranges of consecutive ids ahead
// of demand, so an id costs no network call.
//
//	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Such ids carry no time and no worker number. The ranges of different processes interleave. For
// gapless numbers, such as those of invoices, see NextGapless in package segmentsql.
//
// [New] makes ids from one counter, [NewTags] from many, and [NewStriped] from one that is split
// over several stores. An id is a [uid.ID], which is a string in JSON: "1". For a JSON number,
// use a field of type int64 and set it to int64(id).
//
// # Ranges and gaps
//
// A generator loads the next range ahead of demand, and sizes it by the measured rate: see
// Config.LoadAt and Config.Ahead. Calls block only when no id is loaded.
//
// Close returns unused ids to the store if it is a [Returner], unless another process has reserved
// a later range. A crash leaves a gap of up to two ranges. A load or a Close that gets no answer
// from the store can also leave a gap. At a steady rate and with the default Ahead, one crash a day
// loses up to 1.4% of a process's ids.
//
// # A store that goes backward
//
// A counter must never go backward. A store that is restored from a backup, or fails over to a
// replica that lacks the last writes, hands out the same ranges again. A generator rejects a range
// that is not above its own last one, with [uid.ErrRewound]. But a process cannot detect this after
// a restart, or if its last range lies below the restored counter. After a restore, stop the
// processes and raise each counter above the highest id in use: uidring segments set TAG --at-least
// N (for Redis, uidringd segments set). A process that rejected a range continues
// within a minute after that.
//
// # New and Striped
//
// For the tag "orders", New and NewTags use the counter "orders", but a [Striped] uses others, such
// as "orders 1/2 x1000". Both count from 1, so their ids would repeat. Each generator therefore
// starts by listing the store's counters, and fails with [uid.ErrConfig] if it finds one of the other
// kind. With Create, NewStriped also creates a counter "orders" that has no ids to give, so if
// generators of both kinds start at the same time, at most one kind succeeds. Counters in other
// stores go unnoticed, and so do those in a [Store] that is not a [Lister]. [docs/migrating.md]
// shows how to switch from New to Striped.
//
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md#from-new-to-striped
package segment
