// Package workerzk takes worker numbers from ZooKeeper: leased numbers with [NewLeaser], and
// Leaf-snowflake's with [NewLeaf].
//
//	conn, events, err := zk.Connect(servers, 10*time.Second)
//	gen, err := uid.NewCached(ctx, workerzk.NewLeaser(conn, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [NewLeaf] shares numbers with services of Meituan's Leaf, which is written in Java
// and trusts clocks: use NewLeaser once no such service is left. The caller must read or discard
// the events from zk.Connect. All methods return when their context is done.
//
// # Nodes
//
// For number 7, under the path /uidring/workers:
//
//	…/number/0000000000000000007         the row, as JSON: token, reserved_until, last holder
//	…/number/0000000000000000007/alive   ephemeral: exists while the holder's session lives
//	…/given/0000000000000000000          the least number never given out
//	…/waiting/…                          ephemeral: holders that wait for a new number
//	…/layout                             the layout of the ids
//
// Each write is one transaction, which succeeds only if nothing that it depends on has changed
// since it was read. Before a read, the Store makes a no-op write, after which the server shows
// all earlier writes. To start, a holder reads 64 numbers at random, with one request each. Only
// when no new number is left does it list all names: jute.maxbuffer (1 MB) holds 40,000 names.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder counts as alive as long as its session lives. lease.Config.Expiry only sets how
//     often the holder writes. After a crash, the number becomes free when the session times out.
//   - Uniqueness never depends on the session. If it expires, and nobody has taken the number, the
//     holder recreates its ephemeral node.
//   - Starting fails with zk.ErrNoServer after trying each server twice, even while the servers
//     elect a leader. Running generators continue to the end of the reserved time.
//   - The client abandons a silent server after two thirds of the session timeout. If the server
//     accepts a connection before it falls silent, the client waits ten times as long: a zk.Dialer
//     can limit that.
//
// # Permissions
//
// NewLeaser creates nodes that are open to the world. [NewStore] and [NewLeaf] accept an access
// list, for which the connection authenticates with AddAuth:
//
//	err := conn.AddAuth("digest", []byte("ids:secret"))
//	store := workerzk.NewStore(conn, workerzk.Config{ACL: zk.DigestACL(workerzk.Perms, "ids", "secret")})
//
// The user also needs [Perms] on the nearest existing parent of the nodes. Anyone who can write
// there can make ids repeat.
package workerzk
