// Package ringbuffer is a bounded queue of ids that costs a taker little more
// than an atomic add. Most programs need package uid instead: its generators have a ring.
//
// Make a [Ring] with [New]; its zero value is not usable. One goroutine at a
// time puts runs of consecutive ids with [Ring.Put]. Any number of goroutines
// take ids with [Ring.Take] or [Ring.TryTake], or many ids at the price of one with
// [Ring.TakeRun]. No method waits for ids or for room. [Ring.Low] signals when
// the ring needs filling.
//
// The ring promises, whatever its callers do:
//
//   - No id is dealt twice.
//   - A call that ends before another call begins returns smaller ids.
//   - Each id that was put is dealt, dropped, or still in the ring.
//   - The first id that [Ring.Close] returns, and every greater id, was never dealt
//     and never will be.
//
// The ring stores a run as its last id and a count, so a ring of 65,536 ids takes
// a kilobyte. It is the counterpart of RingBuffer of uid-generator.
//
// # How it works
//
// Runs wait in a ring of slots, which a mutex guards. The run that is being dealt
// is the current span; dealing needs no mutex. A span gives the ids
//
//	last-n+1, …, last-1, last
//
// to the positions
//
//	end-n, …, end-2, end-1
//
// A position is a number that grows with every claim. A taker loads the current
// span, and adds 1 to the ring's position. The new position plus the span's delta,
// which is last-end, is the id. An id above last means that the claim lies past the
// end. Most calls do no more than that:
//
//	position          … 41  42  43  44  45  46  47  48  49 …
//	spans              [ n=4    end=45 ]        [ n=…
//	ids                700 701 702 703  void void 900 901 902
//
// When the span is used up, the taker that finds out takes the mutex and claims
// again. It publishes the next run as a span that starts at its own claim.
// Claims between the end of one span and the start of the next are void: they
// cost a position and nothing else. Polling an empty ring costs at most one
// position a call: TakeRun, and every claim under the mutex, first checks whether
// there are ids. Positions wrap around, and are compared by their difference. That
// is correct if fewer than 2^63 positions go by while one span is current or one call
// pauses. At a position each nanosecond, these are 292 years.
//
// # Why no id is dealt twice
//
//  1. One call claims a position: Add hands out each number once, and nothing sets
//     the position back. [Ring.Drop] moves the position forward by
//     compare-and-swap, and so owns the positions that it skips.
//  2. Spans do not overlap. The next span is published under the mutex, after a
//     claim at or behind the current span's end, and starts at that claim.
//  3. So a position lies in one span at most. A taker loads a span that was
//     published before the taker's claim, and the span's start was claimed before
//     that. So the claim is not below the span's start, and a comparison with the
//     end is enough. A taker that pauses between load and claim deals the id of its
//     position or none. The order of the two steps is essential: with the claim
//     first, the loaded span could be a later one that starts above the claim.
//     Delta and last may be read at any time, because a published span does not
//     change. Take compares ids and not positions: a claim k positions past the end
//     gives last+k. The comparison is unsigned, so last+k is above last for every k
//     up to 2^63, even where last+k is no int64.
//  4. No id lies in two runs: [Ring.Put] refuses a run that does not lie above all
//     earlier runs, whatever the padder does.
//
// So a position stands for one id at most, an id for one position at most, and
// a position is claimed once.
//
// # Why ids are in order
//
// Spans follow each other upwards both in positions (2) and in ids (4), so a
// greater position stands for a greater id. Adds to one word are in a total
// order that respects time. If a call ends before another begins, its position
// is smaller, and so is its id.
//
// # Why none is lost
//
// A claim past the loaded span may lie in a span that was published since. Spans
// are linked in order of publication, and the loaded span was current before the
// claim. So the claim cannot lie in an older span. The taker follows the links
// under the mutex, and finds the span that covers the claim if there is one. A
// claim never covers two spans: every span starts at its publisher's own claim.
//
// So every id that was put was taken, was dropped, or is in the ring. That makes
// [Ring.Counts] exact without a count for each id.
//
// # Where dealing ended
//
// [Ring.Close] claims all positions that are left of the current span by one
// compare-and-swap. Every earlier claim lies below these positions, and deals its
// id. Every later claim lies past the span's end, and no span follows. So all ids
// dealt lie below the first id that Close returns, even those of calls that are
// under way. Another process may issue that first id and all above it.
//
// # How it is checked
//
// ring.pml, beside the code, is a model of the ring in Promela. The model has takers
// of one id and of several, consecutive runs and a jump to a later tick. It has an
// empty ring, and runs dropped whole and in part. The model checker tries every
// interleaving against the promises above. The model's comment lists nine faults,
// such as a claim before the load of the span. make model seeds each, and fails
// unless the checker finds it.
//
// The model leaves out, and tests check:
//
//   - [Ring.Put] refuses runs out of order, and every run after Close.
//   - One goroutine at a time puts.
//   - The signal that the ring is low. It is sent after the mutex is released.
//   - Take returns the result of RejectedTake. A take within RejectedTake is a call of
//     its own in the model.
//   - Claims of more than two ids, and the bound of 2^20 ids a claim.
//   - Positions of 64 bits: those of the model have 8, and wrap too.
//
// The tests compare the ring with a mutex and a slice, by random calls and by
// fuzzing, and check the promises under stress.
//
// # Why Take is inlined
//
// A call costs as much as all that Take does. So the compiler inlines Take into Next of
// package uid, and Next into its callers. It inlines functions whose cost is at most 80,
// in a count that "go build -gcflags=-m=2" prints. Take costs 69 and Next 80, because:
//
//   - The position is the first field of the ring. Any other place costs 2 more.
//   - A span has delta and last, so one addition makes the id, and one comparison is
//     enough.
//   - deal gets the slow path as a parameter. A call of a parameter costs 17, a call of
//     a function by its name 57.
//
// Wait of package uid is inlined in the same way. A test of that package fails if the
// compiler does not inline Next or Wait into a caller.
//
// # Alternatives
//
// Nanoseconds per id, filling included, for one goroutine and for two on two
// cores of an AMD EPYC. Each is the least of 8 counts of
//
//	go test ./ringbuffer -run '^$' -bench Shape -count 8
//
//	shape                                                1      2
//	atomic add, the floor                              2.1    4.0
//	slots of one id, padded and flagged               26.1   46.3
//	slots of one id, read then compare-and-swap        6.1   19.7
//	runs, claim then load the span                     2.6    4.4
//	runs, load the span then claim: the ring           2.3    2.9
//	the same with runs of 64 ids instead of a tick's   3.2    4.7
//
// Slots of one id read and write memory for every id. Claiming before loading
// the span is no faster, and needs a comparison with the span's start as well.
// It also loses the ids of takers that pause in between. Shorter runs change spans
// more often. A run of a whole tick is the simplest, takes the fewest slots, and is
// the fastest.
package ringbuffer
