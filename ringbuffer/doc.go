// Package ringbuffer is a bounded queue of ids that costs a taker little more than an atomic add.
// Most programs want package uid instead, whose generators contain a ring.
//
// Make a [Ring] with [New]; its zero value is not usable. One goroutine at a time puts runs of
// consecutive ids with [Ring.Put]. Any number of goroutines may take ids with [Ring.Take] or
// [Ring.TryTake], or many ids at the cost of one with [Ring.TakeRun]. No method waits for ids or
// for room. [Ring.Low] signals when the ring needs filling.
//
// The ring promises, whatever its callers do:
//
//   - No id is dealt twice.
//   - A call that starts after another has returned gets larger ids.
//   - Each id that was put is dealt, dropped, or still in the ring.
//   - The first id that [Ring.Close] returns, and every greater id, was never dealt
//     and never will be.
//
// The ring stores a run as its last id and a count, so a ring of 65,536 ids takes a kilobyte. It
// is the counterpart of uid-generator's RingBuffer.
//
// [DESIGN.md] says how the ring works, why no id is dealt twice or lost, how that is checked, and
// why the compiler inlines Take into its callers.
//
// [DESIGN.md]: https://github.com/uidring/uidring/blob/main/ringbuffer/DESIGN.md
package ringbuffer
