// Package workeretcd leases worker numbers from etcd.
//
//	client, err := clientv3.New(clientv3.Config{
//		Endpoints:            endpoints,
//		DialKeepAliveTime:    10 * time.Second,
//		DialKeepAliveTimeout: 5 * time.Second,
//		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(params)},
//	})
//	gen, err := uid.NewCached(ctx, workeretcd.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [docs/choosing.md] compares the stores.
//
// Set DialKeepAliveTime and DialKeepAliveTimeout: otherwise the client keeps a silently dropped
// connection for minutes. Do not ping more often than every 5 seconds, or etcd closes the
// connection. Set grpc.WithConnectParams as the example does: by default, gRPC waits up to 20
// seconds for a connection, and backs off for up to 2 minutes between attempts.
//
// # Keys
//
// For number 7, under the prefix /uidring/workers:
//
//	/uidring/workers/number/0000000000000000007   the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/alive/0000000000000000007    exists while the holder is alive
//	/uidring/workers/given/0000000000000000000    the least number never given out
//	/uidring/workers/waiting/…, …/told/…          holders that wait for a new number, and are told one
//
// The keys alive, waiting and told are attached to an etcd lease of the holder. Its TTL is the
// expiry, rounded up to whole seconds. etcd raises a TTL below its minimum, 2 seconds by default.
// The holder renews the etcd lease at each renewal, four times per expiry.
//
// Every write is one transaction, which succeeds only if nothing that it depends on has changed
// since it was read. Reads are linearizable, so any member may answer them.
//
// Uniqueness never depends on the etcd lease. If it ends while its holder is alive, and nobody has
// taken the number, the holder starts a new one.
//
// With authentication, the user needs what [Role] returns:
//
//	etcdctl role grant-permission ids readwrite --prefix /uidring/workers/
//
// Anyone who can write there can make ids repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
package workeretcd
