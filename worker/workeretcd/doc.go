// Package workeretcd leases worker numbers from etcd.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialOptions: workeretcd.DialOptions()})
//	gen, err := uid.NewCached(ctx, workeretcd.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [docs/choosing.md] compares the stores.
//
// Use [DialOptions]: without them, a client can go on failing for minutes after etcd has recovered, and, if
// authentication is enabled on an etcd before 3.5.21, until the process ends.
//
// # Keys
//
// Under the prefix /uidring/workers, with number 7 as an example, the keys are:
//
//	/uidring/workers/number/0000000000000000007   the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/alive/0000000000000000007    exists while the holder is alive
//	/uidring/workers/given/0000000000000000000    the next new number
//	/uidring/workers/waiting/…, …/told/…          holders waiting for a new number, and the number each gets
//	/uidring/workers/layout                       the layout of the ids
//
// The keys alive, waiting and told are attached to the holder's etcd lease. Its TTL is the
// expiry, rounded up to whole seconds, but at least etcd's minimum, 2 seconds by default. The
// holder refreshes the etcd lease whenever it renews its number, at least four times per expiry.
//
// Every write is one transaction, which succeeds only if the data it depends on has not changed
// since the read. Reads are linearizable, so any member may answer them.
//
// Uniqueness never depends on the etcd lease. If it expires while its holder is alive, and nobody
// has taken the number, the holder creates a new lease. Because etcd does not report its time,
// startup cannot check the clock: see lease.Config.MaxSkew.
//
// If authentication is enabled, the user's role needs the permission that [Role] returns:
//
//	etcdctl role grant-permission ids readwrite --prefix /uidring/workers/
//
// Anyone who can write these keys can make ids repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
package workeretcd
