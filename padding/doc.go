// Package padding keeps a ring of ids full. Most programs need package uid instead: its
// generators have a ring and an executor. It is the counterpart of BufferPaddingExecutor of
// uid-generator.
//
// An [Executor] puts runs from a [Source] into a [ringbuffer.Ring]. Make one with [New],
// fill the ring with [Executor.Fill], and call [Executor.Start]. From then on the executor
// fills a ring that is low. A taker that finds the ring empty calls [Executor.Help].
//
// An executor promises:
//
//   - At most one goroutine at a time calls the source and puts. So runs reach the ring in
//     the order in which the source made them.
//   - While a source blocks, the executor holds no lock that a taker, Stats or
//     Close needs.
//   - A thousand takers below the threshold cause one refill.
//   - The executor calls the source only when the longest run fits. So it discards
//     no run because the ring is full.
//   - A panic in the source or in a handler becomes a [*PanicError], and the
//     executor continues.
package padding
