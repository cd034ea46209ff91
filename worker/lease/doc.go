// Package lease leases worker numbers: a number can be reused after its holder has stopped or
// crashed.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//
// worker.NewLeaser returns a [Leaser] backed by an SQL database, and [New] returns one backed by
// any store: see packages workeretcd, workerkube, workerredis and workerzk. Package leasestore
// explains how to write your own store. [NewPermanent] returns a source that grants, without a time
// limit, the number that your own [Assigner] chooses.
//
// Constructors of Leasers and stores return no error, so that calls can nest. The first request
// reports every invalid field of every config; to learn of them earlier, call Validate on each
// config.
//
// # What a generator gets
//
// To start, a generator sends a Leaser a [Request] for a [Lease]. The Leaser responds with a
// Grant: a number, and the range of times that the generator may put into ids with that number.
// The Leaser renews the lease in the background, and each renewal brings another [Grant] with a
// later end. If another holder takes the number, the Leaser calls Granted with Held false, and
// takes another number or, with an Assigner, waits until the same number is free again.
//
// No two holders in the same store are ever granted the same tick under the same number. So ids
// with the same layout never repeat, whatever the clocks show, however long processes and requests
// stall, and no matter which responses are lost.
//
// [docs/reliability.md] describes each failure and the assumptions: all processes whose ids must
// differ use the same store, acknowledged writes are durable, nobody edits rows, and no process
// is cloned while it holds a number. The package documentation of [internal/protocol] describes
// the protocol and explains why it is correct.
//
// # Operating leases
//
// [Leaser.Leases] lists the numbers in a store and their holders. [Leaser.Free] frees the number of
// a dead holder; [Leaser.Revoke] also frees the number of a live one. The command "uidring workers"
// (for stores other than SQL, "uidringd workers") does the same.
//
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
// [internal/protocol]: https://pkg.go.dev/github.com/uidring/uidring/worker/lease/internal/protocol
package lease
