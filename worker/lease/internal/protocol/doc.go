// Package protocol is the protocol of leased worker numbers, as a state machine without a store, a
// clock or a goroutine. Package lease drives it: each [Holder] says what to ask of the store next, and
// takes the answer.
//
// # The rules
//
// An id carries its tick. So a holder must own ticks of the id space, not time on a
// lease. The authority is the number's row. Each write gives the row a new token. The
// row's Until is the instant up to which ticks may have been stamped. Four rules make
// the protocol safe:
//
//  1. Reserve before stamping. The end of a grant is an Until that this holder's own write
//     has committed. A write that is not known to be committed grants nothing.
//  2. Start where the last holder ended. A grant begins at the row's Until before the
//     takeover; in a new row it is the beginning.
//  3. Compare and swap. Each write names the token that was read. Until is only
//     raised, except by rule 4.
//  4. A clean release lowers Until to the end of the last tick that was stamped. The
//     generator is stopped before, so that no id can follow.
//
// By rule 3 the writes to a row form one chain. Let two holders have the grants
// (n, a, b) and (n, c, d), the first taken over earlier in the chain. All writes that
// the first holder ever committed precede the second's takeover, because the first's
// later writes name a token that is gone. So b is at most the Until that the second
// found, which is c. The two own no tick in common. This argument uses no clock, and no
// bound on how long anything takes.
//
// # New numbers
//
// The proof does not need ranges; they only decide which number is new. The store makes a
// new number, in one atomic step of an Insert with Fresh. The number has no row, and lies above
// the counts of all ranges that begin at or before the end of the holder's range. The step raises the
// count and makes the row. So two Inserts never make one row. A number whose row was deleted is not
// new: its next holder would start from the beginning, and repeat ids. In a database whose numbers are
// drawn, the number is instead a key that the server has given to this Insert alone, and the row is made
// after the key is known; draw.go of package worker argues why that is as good.
//
// The holder learns the number from the answer alone. If the answer is lost, the holder forgets
// the write, which granted nothing, and begins anew. The row expires, and is a link of its chain
// like every write. So is the second row of a request that is executed twice.
//
// Let n be made as new. Every number that was given before n lies below a count or has a row,
// as the step shows both. So n was not given. The next Insert finds a count above n, even if
// the row of n is deleted. numbers.pml checks this, and numbers that are drawn.
//
// # Choosing a number
//
// A start costs the same however many numbers were given and however many start with it. It looks
// at a sample, and takes a free or expired number whose Until has passed, or will within a second;
// else it inserts a new number. If nothing new is left, it looks at all rows, and takes one of
// those with nearly the least Until. If another holder is faster, the start tries up to three other
// rows of the same look, and then looks again. For uniqueness, the age of a look does not matter:
// a takeover names the token that the look showed.
//
// # Renewing
//
// To renew, a holder reads the row and then writes: four times per expiry, and at once when half
// of the reserved time is used. A holder that uses time faster than the clock writes about once
// a second.
//
// After a lost or negative answer, the write may still be executed later: it is in
// doubt. The holder then reads the row. If the row has the write's own token, the
// write was done. If the row has the token from before, the write was not done so far,
// and stays in doubt. With any other token the number is lost: the generator drops the
// ids in its ring, and the holder takes another number.
//
// A holder remembers its last 64 writes in doubt, so that a store that reads and does not
// write costs no memory. If an older write is done after all, its token counts as any
// other: the holder takes another number. No id repeats, by the same argument: the
// forgotten write granted nothing, and is a link of the chain like every write.
//
// The models are lease.pml and numbers.pml of package lease.
package protocol
