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
// To renew, a holder writes the row: four times per expiry, and at once when half of the reserved
// time is used. A holder that uses time faster than the clock writes about once a second. While
// nothing is known to be wrong, a renewal is that one request. It names the token of the holder's
// last write, and reserves up to the window beyond what the store's clock is expected to show: what
// the last read showed, and the time that has passed since by the process's monotonic clock. It
// never reserves less than the holder owns.
//
// The holder needs no read to be safe. While no write is in doubt, its last write is the one that
// gave the row the token it remembers, and it owns what that write reserved, or more. So a read that
// shows this token shows nothing new about the row; and if the row has another token, or is gone,
// the write is not done. Rule 3 holds as after a read, because the token alone carries it: it does not
// matter how old the knowledge is, whether the process was suspended, or what any clock showed. A
// statement that a driver sends twice is done once.
//
// A read would also show the store's clock. A condition takes its place: the store writes only if its
// clock is near what the holder expects, and within MaxSkew of the clock that stamps ids. The upper bound
// allows for the timeout of a request, since the write may arrive that late. So a holder whose
// monotonic clock stood still reserves no time of no use, nor does one whose store moved to a server
// with another clock. A wrong clock is noticed at the renewal at which a read would have shown it,
// unless the store is ahead by at most that timeout beyond MaxSkew. A store without a clock has no such
// condition: the clock that stamps ids sets the target, with a read and without.
//
// If the answer is that nothing was written, or there is none, the holder has lost nothing yet. It
// reads the row and the clock, judges them as below, and writes again at once. A write in doubt, a
// clock that is wrong, and a number that was just taken make the next renewal read first.
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
