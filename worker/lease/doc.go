// Package lease leases worker numbers: a number is free again when its holder stops or crashes.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//
// worker.NewLeaser makes a [Leaser] on an SQL database, and [New] makes one on any store: see
// packages workeretcd, workerkube, workerredis and workerzk. Package leasestore says how to write a
// store of your own. [NewPermanent] wraps an [Assigner] of your own, which gives each number once.
//
// Constructors of Leasers and stores return no error, so that they can be an argument of another
// call. The first request reports all faults of all configs; each config has Validate, which
// reports them earlier.
//
// # What a generator gets
//
// A generator asks a Leaser for a [Lease], by a [Request]. The Leaser then sends it a [Grant]: a
// number, and the time that the generator may stamp under the number. The Leaser renews the lease in
// the background, and each renewal is another Grant with a later end. If another holder has taken the
// number, a Grant withdraws it, and the Leaser takes another number.
//
// No two holders of one store are ever granted the same tick of the same number. So ids of one
// layout never repeat, whatever clocks show, however long processes and requests pause, and whichever
// answers are lost.
//
// [docs/reliability.md] says how each failure ends, and what is assumed: all processes whose ids must
// differ use one store, a write that was reported done stays done, nobody edits rows, and no
// process is cloned while it holds a number. The package documentation of [internal/protocol] has the
// protocol and its proof.
//
// # Operating leases
//
// [Leaser.Leases] lists the numbers of a store and their holders. [Leaser.Free] gives back the
// number of a dead holder before it expires, and [Leaser.Revoke] also that of a live holder. The
// command uidring does the same.
//
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
// [internal/protocol]: https://pkg.go.dev/github.com/uidring/uidring/worker/lease/internal/protocol
package lease
