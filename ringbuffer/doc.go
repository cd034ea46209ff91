// Package ringbuffer is a bounded queue of ids that costs a taker little more
// than an atomic add.
//
// A [Ring] holds runs of consecutive ids rather than ids: a tick's worth of them
// is its first number and their count, so a ring of 65,536 ids takes a kilobyte.
// Its zero value is of no use; make one with [New]. One padder puts runs, any
// number of takers take ids. Most want [Ring.Take]; [Ring.TakeRun] claims many
// ids at the price of one. It answers to RingBuffer of uid-generator.
//
// # How it works
//
// Runs wait in a ring of slots, under a mutex. One of them, the current span, is
// being dealt, and dealing needs no mutex. A span gives the ids
//
//	last-n+1, …, last-1, last
//
// to the positions
//
//	end-n, …, end-2, end-1
//
// A position is a number that grows with every claim: a taker loads the current
// span, then adds 1 to the position, and looks whether that went past the span's
// end. If not, its id is as far below the span's last as the position then is
// below the end. That is all that a taker does for most ids:
//
//	position          … 41  42  43  44  45  46  47  48  49 …
//	spans              [ n=4    end=45 ]        [ n=…
//	ids                700 701 702 703  void void 900 901 902
//
// When the span is used up, the taker that finds out takes the mutex, claims
// anew, and publishes the next run as a span that starts at its own claim. Claims
// between the end of one span and the start of the next are void: they cost
// nothing but the number. At a number each nanosecond they last 292 years, and
// polling an empty ring costs one a call at most: a claim of many, and every claim
// in the slow path, looks first whether there is anything to claim. Should they
// run out all the same, they start again from the least. That changes nothing,
// since positions are compared by their difference: it is right as long as fewer
// than 2^63 positions go by while one span is current or one call is held up.
//
// # Why no id is dealt twice
//
//  1. A position is claimed by one call: Add hands out each number once, and
//     nothing sets the position back. [Ring.Drop] moves it forward, by
//     compare-and-swap, and so owns the positions that it skips.
//  2. Spans do not overlap. The next one is published under the mutex, after a
//     claim at or behind the current span's end, and starts at that claim.
//  3. So a position lies in one span at most. The span that a taker loads was
//     published before the taker's claim, and its start was claimed before that,
//     so the claim is not below its start, and comparing it with the end is
//     enough. A taker that is held up between the two steps deals the id of its
//     position or none. The order of the two is essential: with the claim first,
//     the span could be a later one, and the claim below its start. It does not
//     matter when the end and the last id are read, because a published span does
//     not change; Take reads them before the claim, because that is faster.
//  4. No id lies in two runs. [Ring.Put] refuses a run that does not lie above
//     all that came before, so this holds whatever the padder does.
//
// A position thus stands for one id at most, an id for one position at most, and
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
// A claim that the loaded span does not cover may still lie in a span that was
// published since. Spans are linked in order of publication, and a taker holds
// one that was current before its claim, so under the mutex it finds the
// span that covers the claim, if there is one: the claim cannot lie in an older
// span. A claim of many positions touches one span only. It could reach into a
// second if that started inside the claim, but a span starts at a position that
// its own publisher claimed.
//
// So what was put has been taken or dropped, or is there: [Ring.Counts] is exact
// without counting anything for each id.
//
// # Where it ended
//
// [Ring.Close] claims the positions that are left of the current span in one
// compare-and-swap, as a drop of everything. Every claim made before it is below
// and stands for its id; every claim after it is past the span's end, and no span
// follows. So the least id that Close dropped parts the ids that were dealt from
// those that never will be, whatever takers are under way: what lies from there
// on may be given to somebody else.
//
// # How it is checked
//
// ring.pml, beside the code, is a model of it in Promela: takers of one and of
// several ids, a padder, runs that continue each other, a jump to a later tick,
// an empty ring, and runs dropped whole and in part. Every interleaving is
// checked for the properties above, and that nothing is dealt from where Close
// says that it ended. The model can be told to set the position back, to leave
// out the check against the span's end, to deal ids as positions, to take claims
// that need the list for void, to drop by Add, to leave out the mutex, to claim
// before loading the span, to drop without trying again, and to have Close tell
// of too much; the check counts only if it finds each of these.
//
// The tests hold the ring against a mutex and a slice, by random calls and by
// fuzzing, and check the properties under stress.
//
// # What it was chosen from
//
// Nanoseconds per id, filling included, for one goroutine and for two on two
// cores of an AMD EPYC, each the least of 8 counts in one run of
//
//	go test ./ringbuffer -run '^$' -bench Shape -count 8
//
//	shape                                                1      2
//	atomic add, the floor                              2.1    4.1
//	slots of one id, padded and flagged               30.5   78.1
//	slots of one id, read then compare-and-swap        6.2   20.0
//	runs, claim then load the span                     2.5    4.9
//	runs, load the span then claim: the ring           2.3    4.3
//	the same with runs of 64 ids instead of a tick's   3.0    4.1
//
// Slots of one id each read and write memory for every id, and padded they take
// two words on lines of their own for it, where the ring takes one slot a run.
// Claiming before loading the span costs no less than the ring's order, needs a
// comparison with the span's start as well, and even then loses the ids of takers
// that are held up in between. Shorter runs change spans more often: that costs
// one goroutine more and, in this run, two of them less. A run is a whole tick
// because that is the simplest, takes the fewest slots and costs one goroutine
// least.
package ringbuffer
