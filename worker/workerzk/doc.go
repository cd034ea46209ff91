// Package workerzk takes worker numbers from ZooKeeper: leased numbers by [New], and
// the numbers of Leaf-snowflake by [Leaf].
//
//	conn, events, err := zk.Connect(servers, 10*time.Second)
//	gen, err := uid.NewCached(ctx, workerzk.New(conn), uid.Config{})
//
// [New] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [Leaf] shares numbers with services of Meituan's Leaf, which is written
// in Java. Leaf's protocol trusts clocks: use New once no service of Leaf is left.
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
// unchanged since the read. Before a read, the Store makes a transaction without effect,
// after which the server shows all earlier writes. ZooKeeper's sync does not promise
// that while the leader changes. A holder makes two transactions at each beat, four
// times per expiry. A start reads all numbers, with one request each.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder is alive as long as its session. lease.WithExpiry only sets how often the
//     holder writes. After a crash, the number is free when the session times out; the
//     servers bound the time-out to 2 to 20 ticks. If a generator cannot give its number
//     back, the number stays held until the connection is closed.
//   - Ids never depend on the session. If the session expires, go-zookeeper starts another
//     session, and the ephemeral nodes are gone: another holder may take the number. The
//     first holder notices at its next beat, takes another number, and no id repeats. If
//     nobody has taken the number, the holder makes the ephemeral node again.
//   - A write that ZooKeeper acknowledged is on the disks of a majority. It is lost only if
//     that majority loses its disks, if servers with forceSync=no lose power, or if the
//     servers are restored from a copy. Holders then report lease.ErrRewound.
//   - ZooKeeper shows no clock: lease.WithMaxSkew has no effect, and rows have no
//     heartbeat.
//   - A start waits half a minute for a session, and then fails. While the servers elect
//     a leader, ids continue to the end of the reserved time (lease.WithWindow).
//   - The server returns the names of all numbers in one answer. Its limit
//     jute.maxbuffer (1 MB) holds about 40,000 names.
//
// # Leaf
//
// Services of Leaf with the same leaf.name share these nodes:
//
//	/snowflake/NAME/forever/10.0.0.1:8080-0000000007   {"ip":"10.0.0.1","port":"8080","timestamp":1763755200000}
//	/snowflake/NAME/temporary/10.0.0.1:8080            ephemeral; only this package has it
//
// The number is the sequence number that ZooKeeper appended to the address; a process
// finds its node again by ip:port. Every 3 seconds the process writes a timestamp to the
// node: the clock, or the last id's time if that is later. A local file has the number
// and the timestamp too (LeafConfig.File). A start
//
//   - fails with lease.ErrHeld if a live process of this package has the same address. If
//     a process in Java has the address, the next report notices, and the generator stops
//     (lease.ErrLost);
//   - fails with lease.ErrSkew if the clock is behind the timestamp of the process's own
//     node or file, after it has waited for up to 5 seconds;
//   - fails with lease.ErrSkew if the clock is further from the mean of the live peers'
//     clocks than LeafConfig.Threshold. A peer is live if it reported within 10 seconds by
//     ZooKeeper's clock; its clock is read from that report;
//   - uses the file if ZooKeeper does not answer for LeafConfig.Wait. When ZooKeeper is
//     back, the process makes all checks. If one fails, the generator stops
//     (lease.ErrLost).
//
// Leaf's protocol cannot notice three faults, after which ids can repeat:
//
//   - a clock that is set back by less than the time since the last report (3 seconds)
//     before a process starts again;
//   - a process in Java with the same address, until the next report;
//   - another process with the same address that starts from its own file while
//     ZooKeeper is away.
//
// Give each process an address and a file of its own.
//
// # The connection
//
// The caller reads or drops the channel of events that zk.Connect returns; this package
// does not need the events. All methods return when their context ends, although
// go-zookeeper's do not.
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
