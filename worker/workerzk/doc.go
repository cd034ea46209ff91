// Package workerzk takes worker numbers from ZooKeeper: leased numbers by [New], and
// the numbers of Leaf-snowflake by [Leaf].
//
//	conn, events, err := zk.Connect(servers, 10*time.Second)
//	gen, err := uid.NewCached(ctx, workerzk.New(conn, lease.Config{}), uid.CachedConfig{})
//
// [New] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [Leaf] shares numbers with services of Meituan's Leaf, which is written
// in Java and trusts clocks: use New once no service of Leaf is left.
//
// # Nodes of New
//
// For number 7, under the path /uidring/workers:
//
//	/uidring/workers/number/0000000000000000007         the row, as JSON: token, reserved_until, last holder
//	/uidring/workers/number/0000000000000000007/alive   ephemeral: exists while the holder's session lives
//	/uidring/workers/given/0000000000000000000          the least number that was never given
//	/uidring/workers/layout                             the layout of the ids
//
// Each write is one transaction, on condition that the row's version is
// unchanged since the read. Before a read, the Store makes a transaction without effect,
// after which the server shows all earlier writes. A holder makes two transactions at each
// renewal, four times per expiry. A start reads 64 numbers at
// random, or all if there are fewer, with one request each. It reads all only when no
// number is new.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder is alive as long as its session. lease.Config.Expiry only sets how often the
//     holder writes. After a crash, the number is free when the session times out; the
//     servers bound the time-out to 2 to 20 ticks. If a generator cannot give its number
//     back, the number stays held until the connection is closed.
//   - Ids never depend on the session. If the session expires, go-zookeeper starts another
//     session, and the ephemeral nodes are gone: another holder may take the number. The
//     first holder notices at its next renewal, takes another number, and no id repeats. If
//     nobody has taken the number, the holder makes the ephemeral node again.
//   - A write that ZooKeeper acknowledged is on the disks of a majority. It is lost only if
//     that majority loses its disks, if servers with forceSync=no lose power, or if the
//     servers are restored from a copy. Holders then report lease.ErrRewound.
//   - ZooKeeper shows no clock: a start does not find that the clock is wrong, and rows
//     have no heartbeat. Later steps of the clock beyond lease.Config.MaxSkew are logged.
//   - A start fails with zk.ErrNoServer when each server was tried twice. Two seconds pass
//     if they refuse connections. A server that does not answer takes a second each time.
//     While the servers elect a leader, starts fail, and ids
//     continue to the end of the reserved time (lease.Config.Window).
//   - go-zookeeper gives up a connection without an answer after two thirds of the
//     session's time-out. Requests fail then, and the next ones use another connection.
//   - The server returns the names of all numbers in one answer. Its limit
//     jute.maxbuffer (1 MB) holds about 40,000 names.
//
// # Leaf
//
// Services of Leaf with the same leaf.name share the nodes below forever. Leaf in Java
// does not read the other nodes:
//
//	/snowflake/NAME/forever/10.0.0.1:8080-0000000007     {"ip":"10.0.0.1","port":"8080","timestamp":1763755200000}
//	/snowflake/NAME/uidring/number/0000000000000000007   the row, as New has it, and its child alive
//
// The number is the sequence number that ZooKeeper appended to the address. A process
// finds its node again by ip:port. The row belongs to the protocol of package lease, as
// with lease.Config.Assigner. So processes of this package never repeat an id.
//
// A transaction that writes the row also writes Leaf's node, on condition that both are
// unchanged. The timestamp becomes the end of the reserved time. Leaf in Java does not
// start while the timestamp of its node lies ahead of its clock. So it refuses an address
// that a generator uses. After a crash it refuses the address until the reserved time has
// passed, a window or more.
//
// If Leaf's node was written after the row, another process wrote it, which reserves
// nothing: Leaf in Java. A generator that holds the number loses it. The next holder starts
// above two instants: the row's reserved_until, and the last timestamp plus the time since
// then by ZooKeeper's clock. A process that makes no more ids has stamped no later time.
// Leaf lists the cases in which the process in Java still makes ids.
//
// The process in Java that finds no node at its start takes number 0, whatever number its
// own node gets. Leaf leaves number 0 to that process.
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
//	lease.New(workerzk.NewStore(conn, workerzk.Config{Path: "/billing/workers", ACL: zk.DigestACL(zk.PermAll, user, password)}), lease.Config{})
//
// The connection then has to authenticate by AddAuth. Anyone who may write
// there can make ids repeat.
package workerzk
