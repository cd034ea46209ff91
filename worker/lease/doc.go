// Package lease leases worker numbers, from any store that has
// compare-and-swap: a number is free again when its holder stops or crashes.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db), uid.Config{})
//
// A generator needs a [Leaser]. worker.NewLeaser makes one on SQL databases,
// and [New] makes one of any [Store]. [Forever] makes a generator accept an
// [Assigner] of your own, which gives each number once.
//
// # What a caller gets
//
// A Leaser reserves time for its holder: a [Grant] is a number and the ticks that
// may be stamped under the number. No two holders of one store are ever granted
// the same tick of the same number. So ids of one layout never repeat, whatever
// clocks show, however long processes and requests are held up, and whichever
// answers are lost.
//
// A holder writes four times in the span of its expiry, which is four times a
// minute by default. It writes about once a second at most, when it uses time faster
// than the clock.
//
// The window ([WithWindow], 10 minutes) is how long ids go on while the store is
// away. It is id space at the layout's rate: a service that draws at the layout's
// rate or slower has 10 minutes, one that draws ten times the rate has one minute.
//
// # How each failure ends
//
//   - The store is away at the start: the client's error, at once. If requests
//     are not answered in time, or collide with others, the start retries for
//     half a minute.
//   - The store is away later: one line in the log, and ids go on to the end of
//     the window. Then Next fails with an error that wraps the client's error
//     and matches uid.ErrReservation. When the store is back, Next succeeds
//     again.
//   - The process is killed: its number expires after [WithExpiry], a minute. Its
//     successor starts where the dead holder had reserved to. That matters where
//     the number is given ([WithNumber]) or is the last one: uid.Cached then stamps
//     ahead of the clock, if MaxBorrow allows that, and uid.Default waits.
//   - The process is stopped for longer than the expiry: another may take its
//     number. When the process goes on, it uses the time that it owns, finds the
//     number lost at its next request, and takes another.
//   - Close cannot reach the store: an error after 5 seconds. The number expires.
//   - All numbers are held: [ExhaustedError], with how many are.
//   - The number that WithNumber asks for is held: [ErrHeld], which says by whom. A
//     pod that was killed can start again when its lease has expired.
//   - The clock is wrong at the start: [SkewError], and no row is written.
//   - The store has gone back in time (restored, failed over): holders find out at
//     their next request ([ErrRewound]), and take other numbers.
//
// # What is assumed
//
//   - One store for all processes that must not share ids. All writers follow
//     the protocol, and nobody edits rows. Deleting a row deletes the memory of
//     what was stamped: the number is not given as new again, but WithNumber
//     claims it from the present on.
//   - A write that was reported done stays done. A store that is restored from a
//     copy, or that fails over to a replica without the last writes, breaks that; so
//     does the crash of a server that answers before it has flushed. Ids that are
//     stamped before holders find out can repeat.
//   - A process is not cloned while it holds a number (a virtual machine's snapshot,
//     a fork). Both clones own what was reserved. One of them loses the number at
//     its next request, so no later time repeats.
//   - The clock that stamps ids is right within [WithMaxSkew] at the start, because
//     time reserved by a wrong clock stays reserved. If the clock steps ahead later,
//     ids follow it, the number rests until that time has come, and the log has a
//     warning. This costs time, not uniqueness.
//
// # Writing a store
//
// Implement [Store]: five methods over rows with a number, a token, an instant
// and a holder. leasetest.Memory is an example of about 100 lines, and
// leasetest.Suite tests yours. A store must ensure four things:
//
//  1. Insert makes a row only if there is none, and Swap writes only if the token is
//     the one that was named: each is one atomic step, whoever else writes.
//  2. What was reported done is seen by every later call of every process, and
//     survives a crash of the store.
//  3. A row is what its last write made it. Tokens and instants come back exactly.
//  4. A number that was given is not given as new again, even if its row is deleted.
//
// Anything else that goes wrong repeats no id. The store judges by its own
// means who is alive: by its clock, by keys that expire, by a connection. A
// store without a clock returns 0 for it. Then the holder's clock says which
// numbers have rested, and no skew is found.
//
// # The protocol
//
// An id carries its tick. So a holder must own ticks of the id space, not time
// on a lease. The authority is the number's row: its token is new in each
// write, and its Until is the instant up to which ticks may have been stamped.
// Four rules make it safe:
//
//  1. Reserve before stamping. Grant.Until is an Until that this holder's own write
//     has committed. What is not known to be committed is not granted.
//  2. Start where the last holder ended. Grant.From is the Until that stood in the
//     row when it was taken over; in a new row it is the beginning.
//  3. Compare and swap. Each write names the token that was read. Until is only
//     raised, except by rule 4.
//  4. A clean release lowers Until to the end of the last tick that was stamped,
//     after the generator has been stopped so that no id can follow.
//
// By rule 3 the writes to a row form one chain. Let two holders have the grants
// (n, a, b) and (n, c, d), the first taken over earlier in the chain. All that the
// first ever committed stands before the second's takeover, because its later writes
// name a token that is gone. So b is at most the Until that the second found, which
// is c. The two own no tick in common. No clock occurs in this argument, and no bound
// on how long anything takes.
//
// A holder takes a free or expired number whose Until has passed; else a new one;
// else the one whose Until comes first. To renew, it reads the row, then writes: four
// times in the span of an expiry, and at once when half of what was reserved is used.
//
// A write whose answer was lost, or that reports that it did nothing, is in doubt.
// The row is read. If it has the token of that very write, the write was done. If it
// has the token from before, the write was not done so far, and stays in doubt. With
// anyone else's token the number is lost: ids in waiting are dropped, and the holder
// takes another number.
//
// internal/protocol has all this as a state machine. lease.pml, beside this file, is a
// model of it, and RELIABILITY.md says how it is tested and with what result.
package lease
