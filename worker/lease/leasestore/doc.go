// Package leasestore is for authors of worker-number stores: it has the [Store] interface, the
// types of its methods, and helpers. Services need only package lease.
//
// Even after version 1, a minor version may change this package; the changelog then says what to
// do.
//
// # Writing a store
//
// Implement [Store], and pass it to lease.New. leasetest.Memory is an example of about 100 lines,
// and leasetest.Suite tests your store. A store keeps one [Row] for each number, and must
// guarantee four things:
//
//  1. Insert makes a row only if there is none, and Swap writes only if the row has the given
//     token. Each is one atomic step, even if other processes write. An Insert with Fresh reports
//     only the number whose row it made.
//  2. Once a write is reported done, every later call by any process sees it, so no read comes
//     from a replica that may lag. The write survives a crash of the store.
//  3. A read returns what the last write wrote. Tokens and instants come back unchanged.
//  4. A number that was given out is never given out as new again, even if its row is deleted.
//
// No other store fault can make an id repeat. The store judges by its own means whether a holder
// is alive: by its clock, by keys that expire, or by a connection. A wrong judgment only costs a
// live holder its number.
//
// # Which calls a holder makes
//
// To start, a holder calls SwapLayout, then Look for a sample of the rows. It takes a free or
// expired number with Swap, or makes a new one with Insert and Fresh. It asks for a full Look only
// if no new number is left. A holder with an Assigner reads the row of its number, and then
// inserts or swaps the row. A renewal is a Read and a Swap, at least four times per expiry. A
// release is one Read and one Swap.
//
// The package documentation of worker/lease/internal/protocol explains why this is safe.
package leasestore
