// Package leasestore is for authors of worker-number stores: it has the Store interface, the types
// that its methods use, and helpers. Services need only package lease.
//
// Even after v1, a minor release may break this package's API; the changelog then says what to
// do.
//
// # Writing a store
//
// Implement [Store], and pass it to lease.New. leasetest.Memory is an example of about 100 lines,
// and leasetest.Suite tests your store. A store keeps one [Row] for each number, and must
// guarantee four things:
//
//  1. Insert creates a row only if there is none, and Swap writes only if the row has the
//     expected token. Each is one atomic step, even while other processes write. If an Insert
//     with Fresh reports done, it also returns the number of the row that it created. Insert may
//     first count the number as given out: a crash in between then leaves a gap.
//  2. Once a write is reported done, every later call by any process sees it, so no read may come
//     from a replica that lags. Only List, which the protocol does not use, may lag. The write
//     survives a crash of the store.
//  3. A read returns what the last write wrote. Tokens and instants come back unchanged.
//  4. Once a number has been given out, it is never again given out as new, even if its row is
//     deleted.
//
// As long as a store keeps these guarantees, no other fault in it can make an id repeat. A store
// may judge whether a holder is alive by the store's clock, by keys that expire, or by a
// connection. A wrong judgment only costs a live holder its number, or keeps a dead holder's
// number in use for longer.
//
// # Which calls a holder makes
//
// To start, a holder calls Look to sample the rows, then SwapLayout. It takes a free or expired
// number with Swap, or creates a new one with an Insert that sets Fresh, and calls SwapLayout again
// to learn whether the layout has changed meanwhile. It asks for a full Look only if no new number
// is left. A holder with an Assigner reads the row of its number instead of Look, and then inserts
// or swaps the row. A renewal is one Swap, and only if that is not done a Read and another Swap; a
// holder renews its number at least four times per expiry. A release is one Read and one Swap.
//
// The package documentation of worker/lease/internal/protocol explains why this is safe.
package leasestore
