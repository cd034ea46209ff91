// Package workerzk gives worker numbers from ZooKeeper: leased numbers by
// [New], and the numbers of Leaf-snowflake by [Leaf].
//
//	conn, events, err := zk.Connect(servers, 10*time.Second)
//	gen, err := uid.NewCached(ctx, workerzk.New(conn), uid.Config{})
//
// [New] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [Leaf] shares numbers with services of Meituan's Leaf, which is written in
// Java. Its protocol trusts clocks: take New where no service of Leaf is left.
//
// # Nodes of New
//
// For number 7, under the path /uidring/workers:
//
//	/uidring/workers/number/0000000000000000007         the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/number/0000000000000000007/alive   ephemeral: exists while the holder's session lives
//	/uidring/workers/given/0000000000000000000          the least number that was never given
//
// Each write is one transaction, on condition that the row's version is
// unchanged since the read. Before a read, the store makes a transaction
// without effect: a server then shows all that was written before. ZooKeeper's
// sync does not promise that while the leader changes. A holder makes two
// transactions at each beat, four times per expiry. A start reads all numbers,
// with one request each.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder is alive as long as its session. lease.WithExpiry only sets how often the
//     holder writes. The number of a process that crashed is taken when its session
//     times out; the servers bound the time-out to 2 to 20 ticks. The number of a
//     generator that could not give it back rests until the connection is closed.
//   - Ids never depend on the session. If the session expires, go-zookeeper starts another
//     and the ephemeral nodes are gone: the number may be taken. Its holder finds that
//     out at its next beat, takes another number, and no id repeats. If nobody has
//     taken the number, the holder makes the ephemeral node again.
//   - A write that ZooKeeper acknowledged is on the disks of a majority. It is lost only with
//     that majority's disks, when the servers run with forceSync=no, or when they are
//     restored from a copy. Holders then report lease.ErrRewound.
//   - ZooKeeper shows no clock: lease.WithMaxSkew has no effect, and rows have no
//     heartbeat.
//   - A start waits half a minute for a session, and then fails. While the
//     servers elect a leader, ids continue to the end of the reserved time
//     (lease.WithWindow).
//   - The server returns the names of all numbers in one answer of at most
//     jute.maxbuffer (1 MB): 40,000 numbers.
//
// # Leaf
//
// Services of Leaf with the same leaf.name share these nodes:
//
//	/snowflake/NAME/forever/10.0.0.1:8080-0000000007   {"ip":"10.0.0.1","port":"8080","timestamp":1763755200000}
//	/snowflake/NAME/temporary/10.0.0.1:8080            ephemeral; only this package has it
//
// The number is the sequence number that ZooKeeper put behind the address; a process finds
// its node again by ip:port. Every 3 seconds it writes its timestamp there: the clock, or
// the last id's time if that is later. A local file has the number and the timestamp
// too (LeafConfig.File). A start
//
//   - fails with lease.ErrHeld if a live process of this package has the same address. A
//     process in Java that has it is noticed at the next report: no more ids are made;
//   - fails with lease.ErrSkew if the clock is behind the own timestamp of the node or of
//     the file. It waits for up to 5 seconds;
//   - fails with lease.ErrSkew if the clock is further from the live peers' mean than
//     LeafConfig.Threshold. A peer is live if it reported within 10 seconds by ZooKeeper's
//     clock, and its clock is compared as of that report;
//   - uses the file if ZooKeeper does not answer for LeafConfig.Wait. All checks are made
//     when ZooKeeper is back. If one fails, no more ids are made (lease.ErrLost).
//
// What Leaf's protocol cannot notice: a clock set back by less than the time since the
// last report (3 seconds) before a process starts again; a process in Java with the same
// address, until the next report; another process with the address that starts from its
// own file while ZooKeeper is away. Ids can repeat then. Give each process an address
// and a file of its own.
//
// # The connection
//
// The caller reads or drops the channel of events that zk.Connect returns; this package does
// not need it. All methods return when their context ends, although go-zookeeper's do not.
//
// # Permissions
//
// New creates nodes that are open to the world. [NewStore] takes an access list:
//
//	lease.New(workerzk.NewStore(conn, "/billing/workers", zk.DigestACL(zk.PermAll, user, password)...))
//
// The connection then has to authenticate by AddAuth. Anyone who may write
// there can make ids repeat.
package workerzk
