// Package padding keeps a ring of ids full. Most programs should use package uid, whose
// generators contain a ring and an executor. An executor is the counterpart of
// BufferPaddingExecutor in Baidu's uid-generator.
//
// An [Executor] puts runs from a [Source] into a [ringbuffer.Ring]. Make one with [New], fill the
// ring with [Executor.Fill], and call [Executor.Start]. From then on, the executor refills the
// ring whenever it is low. A taker that finds the ring empty calls [Executor.Help].
//
// An executor promises:
//
//   - At most one goroutine at a time calls the source and puts its runs into the ring, so runs
//     enter the ring in the order in which the source made them.
//   - While a source blocks, the executor holds no lock that a taker, Stats or
//     Close needs.
//   - A low ring is refilled only once, even if 1,000 takers find it low.
//   - The executor calls the source only when the longest run fits, so it never discards a run
//     because the ring is full.
//   - A panic in the source or in a handler becomes a [*PanicError], and the
//     executor continues.
package padding
