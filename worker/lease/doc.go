// Package lease leases worker numbers: a number becomes free when its holder stops or crashes.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//
// worker.NewLeaser makes a [Leaser] on an SQL database, and [New] makes one on any store: see
// packages workeretcd, workerkube, workerredis and workerzk. Package leasestore says how to write
// your own store. [NewPermanent] wraps your own [Assigner], which must give out each number only
// once.
//
// Constructors of Leasers and stores return no error, so that calls can nest. The first request
// reports all faults of all configs; Validate, on each config, reports them earlier.
//
// # What a generator gets
//
// To start, a generator sends a Leaser a [Request] for a [Lease]. The Leaser responds with a Grant:
// a number, and the time that the generator may stamp under the number. The Leaser renews the
// lease in the background, and each renewal is another [Grant] with a later end. If another
// holder takes the number, a Grant withdraws it, and the Leaser takes another number.
//
// No two holders in one store are ever granted the same tick of the same number. So ids of one
// layout never repeat, whatever the clocks show, however long processes and requests stall, and
// whichever answers are lost.
//
// [docs/reliability.md] describes each failure and the assumptions: all processes whose ids must
// differ use one store, acknowledged writes are durable, nobody edits rows, and no process is
// cloned while it holds a number. The package documentation of [internal/protocol] has the
// protocol and its proof.
//
// # Operating leases
//
// [Leaser.Leases] lists the numbers in a store and their holders. [Leaser.Free] frees a dead
// holder's number before expiry; [Leaser.Revoke] frees even a live holder's. The command uidring
// workers does the same.
//
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
// [internal/protocol]: https://pkg.go.dev/github.com/uidring/uidring/worker/lease/internal/protocol
package lease
