// Package padding keeps a ring of ids full.
//
// An [Executor] owns one goroutine. It puts runs from a [Source] into a
// [ringbuffer.Ring] whenever the ring says that it runs low, and, if it is given
// a schedule, at the times of that schedule too. A taker that finds the ring
// empty need not wait for that goroutine: [Executor.Help] puts one run from the
// taker's own.
//
// # How it behaves
//
//   - At most one goroutine at a time asks the source and puts, so runs reach the
//     ring in the order in which the source made them.
//   - The ring's signals do not add up: a thousand takers below the threshold are
//     one refill.
//   - The source is asked only when its longest run fits, so nothing that it
//     made is thrown away to find out that the ring is full.
//   - An error of the source ends the refill at hand and nothing else. The next
//     signal, schedule or Help tries again.
//   - A panic in the source or in a handler becomes a [*PanicError], and the
//     executor goes on.
//   - Close ends the goroutine, waits for it, and closes the ring.
//
// # The schedule
//
// A schedule is a specification of [github.com/robfig/cron/v3], which reads it
// and says when it is due next. The wait itself is a timer of the executor's own
// goroutine. A timer runs on the monotonic clock, so a step of the wall clock
// delays the schedule by no more than one interval; and since refill and
// schedule share a goroutine, they cannot overlap. The threshold is what keeps
// the ring full; the schedule tops it up and takes out what has gone stale.
//
// The package answers to BufferPaddingExecutor of uid-generator.
package padding
