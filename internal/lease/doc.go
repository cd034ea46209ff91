// Package lease decides what the holder of a worker number asks of the store of
// leases, and what its answers mean. It is the protocol of worker.Leaser, told in
// the documentation of package worker, as a state machine without a database, a
// clock or a goroutine: worker drives it against a database, the tests of this
// package against an adversary.
//
// A [Holder] says by [Holder.Next] what to ask, and is told by [Holder.Take] what
// came back, or that nobody knows. What it owns is its [Grant].
package lease
