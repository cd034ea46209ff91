// Package leasestore is for authors of a store of worker numbers: it has the [Store] to implement,
// the types of its methods, and functions that help to write them. Services need package lease alone.
//
// A minor version may change this package, also after version 1, and the changelog says what to do.
//
// # Writing a store
//
// Implement [Store], and pass it to lease.New. leasetest.Memory is an example of about 100 lines, and
// leasetest.Suite tests your store. A store keeps one [Row] for each number, and must ensure four things:
//
//  1. Insert makes a row only if there is none, and Swap writes only if the row has the
//     named token. Each is one atomic step, even if other processes write. An Insert with
//     Fresh reports the number whose row it made, and no other.
//  2. Every later call of every process sees a write that was reported done, so no read
//     comes from a replica that may lag. The write survives a crash of the store.
//  3. A read returns what the last write wrote. Tokens and instants come back exactly.
//  4. A number that was given is not given as new again, even if its row is deleted.
//
// No other fault of a store repeats an id. The store judges by its own means whether a
// holder is alive: by its clock, by keys that expire, by a connection. A wrong judgement
// costs a live holder its number.
//
// # What a holder asks
//
// A start calls SwapLayout, and then Look for a sample of the rows. It takes a free or expired number
// by Swap, or makes a new one by Insert with Fresh. It asks for a full Look only if nothing new is
// left. A start with an Assigner reads the row of its number, and then inserts or swaps the row.
// A renewal is a Read and a Swap, four times per expiry or more often. So is a release, once.
//
// The package documentation of worker/lease/internal/protocol says why that is safe.
package leasestore
