// Package workerzk leases worker numbers from ZooKeeper.
//
//	conn, events, err := zk.Connect(servers, 10*time.Second, zk.WithHostProvider(new(workerzk.Hosts)))
//	gen, err := uid.NewCached(ctx, workerzk.NewLeaser(conn, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. The caller may ignore the events from zk.Connect. With [Hosts], the connection finds
// a server whose address has changed. All methods return when their context is done.
//
// # Nodes
//
// Under the path /uidring/workers, with number 7 as an example, the nodes are:
//
//	…/number/0000000000000000007         the row, as JSON: token, reserved_until, last holder
//	…/number/0000000000000000007/alive   ephemeral: exists while the holder's session lives
//	…/given/0000000000000000000          the next new number
//	…/waiting/…                          ephemeral: holders that wait for a new number
//	…/layout                             the layout of the ids
//
// Each write is one transaction, which succeeds only if the data it depends on has not changed
// since the read. Before a read, the Store performs a no-op write, which ensures that the read
// sees all earlier writes. To start, a holder reads up to 64 numbers at random, or 128 if none is
// free, with one request each. Only when no new number is left does it list all names, in one
// response with 23 bytes per name: if conn has a limit (zk.WithMaxBufferSize), make it large
// enough.
//
// # What ZooKeeper adds to the protocol
//
//   - A holder counts as alive while its session lives. lease.Config.Expiry only sets how often
//     the holder writes. After a crash, the number becomes free when the session times out.
//   - Uniqueness never depends on the session. If it expires, and nobody has taken the number, the
//     holder recreates its ephemeral node.
//   - Because ZooKeeper does not report its time, startup cannot check the clock: see
//     lease.Config.MaxSkew.
//   - Startup fails with zk.ErrNoServer once the client has tried each server twice, even if the
//     servers are only electing a leader. Running generators continue to the end of the reserved
//     time.
//   - The client abandons a silent server after two thirds of the session timeout. If a server
//     accepts a connection but never responds on it, the client waits ten times as long; a
//     zk.Dialer can limit that.
//
// # Permissions
//
// NewLeaser creates nodes that are open to the world. [NewStore] accepts an ACL. Authenticate
// the connection with AddAuth:
//
//	err := conn.AddAuth("digest", []byte("ids:secret"))
//	store := workerzk.NewStore(conn, workerzk.Config{ACL: zk.DigestACL(workerzk.Perms, "ids", "secret")})
//
// The user also needs [Perms] on the nodes' nearest existing ancestor. Anyone who can write to the
// nodes can make ids repeat.
package workerzk
