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
// [NewLeaser] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [docs/choosing.md] compares the stores.
//
// Set DialKeepAliveTime and DialKeepAliveTimeout: otherwise the client keeps a connection that a
// network dropped silently, for minutes. etcd closes connections that ask more often than
// every 5 seconds. Set grpc.WithConnectParams as the example does: by default, gRPC waits
// up to 20 seconds for a connection, and pauses up to 2 minutes between attempts.
//
// # Keys
//
// For number 7, under the prefix /uidring/workers:
//
//	/uidring/workers/number/0000000000000000007   the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/alive/0000000000000000007    exists while the holder is alive
//	/uidring/workers/given/0000000000000000000    the least number that was never given
//	/uidring/workers/waiting/…, …/told/…          starts that wait for a new number, and are told one
//
// The keys alive, waiting and told are attached to an etcd lease of the holder. Its TTL is the
// expiry in whole seconds, rounded up. etcd raises a TTL below its minimum, which is 2 seconds
// by default. The holder renews the etcd lease at each renewal, four times per expiry.
//
// Every write is one transaction, on condition that what it depends on is unchanged since the
// read. Reads are linearizable, so any member may answer them.
//
// Ids never depend on the etcd lease. If it ends while its holder lives, and nobody has taken
// the number, the holder starts a new one.
//
// With authentication, the user needs what [Role] returns:
//
//	etcdctl role grant-permission ids readwrite --prefix /uidring/workers/
//
// Anyone who may write there can make ids repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
package workeretcd
