// Package workeretcd leases worker numbers from etcd.
//
//	client, err := clientv3.New(clientv3.Config{
//		Endpoints:            endpoints,
//		DialKeepAliveTime:    10 * time.Second,
//		DialKeepAliveTimeout: 5 * time.Second,
//		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(params)},
//	})
//	gen, err := uid.NewCached(ctx, workeretcd.New(client, lease.Config{}), uid.CachedConfig{})
//
// [New] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [CHOOSING.md] compares the stores.
//
// Set DialKeepAliveTime and DialKeepAliveTimeout. Without them, the client keeps a
// connection that a network dropped silently. After such a partition it can take minutes
// until requests reach etcd again, and ids may stop meanwhile. etcd closes connections
// that ask more often than every 5 seconds.
//
// Set grpc.WithConnectParams too, as the example does. By default, gRPC waits up to
// 20 seconds for a connection, and pauses up to 2 minutes between attempts. After a long
// partition, a holder then renews that much later.
//
// # Keys
//
// For number 7, under the prefix /uidring/workers:
//
//	/uidring/workers/number/0000000000000000007   the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/alive/0000000000000000007    exists while the holder is alive
//	/uidring/workers/given/0000000000000000000    the least number that was never given
//
// The keys number and given are ordinary keys. Only alive is attached to an etcd lease.
// Its TTL is the expiry in whole seconds, rounded up. etcd raises a TTL below its
// minimum, which is 2 seconds by default. The holder renews the etcd lease at each
// renewal, four times per expiry.
//
// Every write is one transaction, on condition that the row's revision is
// unchanged since the read. Reads are linearizable, so any member may answer
// them.
//
// # What etcd adds to the protocol
//
//   - Ids never depend on the etcd lease. If it ends while its holder lives, another may
//     take the number. The holder notices at its next renewal, takes another number, and
//     no id repeats. If nobody has taken the number, the holder starts a new etcd
//     lease.
//   - etcd shows no clock: a start does not find that the clock is wrong, and rows have no
//     times of heartbeat and creation.
//   - A write that etcd acknowledged is on the disks of a majority of its members. It is
//     lost only if that majority loses its disks, or if etcd is restored from a
//     snapshot. Holders then report lease.ErrRewound.
//   - While etcd elects a leader, requests fail. Ids continue to the end of the
//     reserved time (lease.Config.Window).
//
// # Permissions
//
// With authentication, the user needs read and write permission on the prefix.
// Anyone who may write there can make ids repeat.
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
package workeretcd
