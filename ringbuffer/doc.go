// Package ringbuffer implements a bounded queue of ids. Taking an id costs little more than an
// atomic add. Most programs should use package uid, whose generators contain a ring.
//
// Make a [Ring] with [New]; its zero value is not usable. Only one goroutine at a time may put runs
// of consecutive ids into the ring, with [Ring.Put]. Any number of goroutines may take ids with
// [Ring.Take] or [Ring.TryTake]. [Ring.TakeRun] takes many ids at the cost of taking one. No method
// waits for ids or for room. [Ring.Low] signals when the ring needs filling.
//
// The ring promises, whatever its callers do:
//
//   - No id is dealt twice.
//   - A call that starts after another has returned gets larger ids.
//   - Each id that was put into the ring is dealt, dropped, or still in the ring.
//   - The first id that [Ring.Close] returns, and every greater id, has never been dealt and never
//     will be.
//
// The ring stores a run as its last id and a count, so a ring of 65,536 ids takes a kilobyte. Ring
// corresponds to RingBuffer in Baidu's uid-generator.
//
// [DESIGN.md] explains how the ring works, why no id is dealt twice or lost, how that is checked,
// and why the compiler inlines Take into its callers.
//
// [DESIGN.md]: https://github.com/uidring/uidring/blob/main/ringbuffer/DESIGN.md
package ringbuffer
