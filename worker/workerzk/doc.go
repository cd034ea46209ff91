// Package workerzk takes worker numbers from ZooKeeper: leased numbers by [NewLeaser], and
// the numbers of Leaf-snowflake by [Leaf].
//
//	conn, events, err := zk.Connect(servers, 10*time.Second)
//	gen, err := uid.NewCached(ctx, workerzk.NewLeaser(conn, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [Leaf] shares numbers with services of Meituan's Leaf, which is written
// in Java and trusts clocks: use NewLeaser once no service of Leaf is left. The caller reads or
// drops the events of zk.Connect. All methods return when their context ends.
//
// # Nodes
//
// For number 7, under the path /uidring/workers:
//
//	…/number/0000000000000000007         the row, as JSON: token, reserved_until, last holder
//	…/number/0000000000000000007/alive   ephemeral: exists while the holder's session lives
//	…/given/0000000000000000000          the least number that was never given
//	…/waiting/…                          ephemeral: starts that wait for a new number
//	…/layout                             the layout of the ids
//
// Each write is one transaction, on condition that what it depends on is unchanged since the
// read. Before a read, the Store makes a write without effect, after which the server shows all
// earlier writes. A start reads 64 numbers at random, with one request each. It reads all, by
// a list of their names, only when no number is new: jute.maxbuffer (1 MB) holds 40,000 names.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder is alive as long as its session. lease.Config.Expiry only sets how often the
//     holder writes. After a crash, the number is free when the session times out.
//   - Ids never depend on the session. If it expires, and nobody has taken the number, the
//     holder makes its ephemeral node again.
//   - A start fails with zk.ErrNoServer when each server was tried twice, also while the servers
//     elect a leader. Ids continue to the end of the reserved time.
//   - The client leaves a server that says nothing after two thirds of the session's time-out. If the server
//     accepts a connection before it falls silent, the client waits ten times as long: a zk.Dialer may limit that.
//
// # Permissions
//
// NewLeaser creates nodes that are open to the world. [NewStore] and LeafConfig take an access
// list, for which the connection authenticates by AddAuth:
//
//	err := conn.AddAuth("digest", []byte("ids:secret"))
//	store := workerzk.NewStore(conn, workerzk.Config{ACL: zk.DigestACL(workerzk.Perms, "ids", "secret")})
//
// The user needs [Perms] on the nearest parent of the nodes that is there too. Anyone who may
// write there can make ids repeat.
package workerzk
