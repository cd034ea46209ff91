// Package workerredis leases worker numbers from Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := uid.NewCached(ctx, workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [CHOOSING.md] compares the stores. The package needs Redis 6.2 or
// later, or Valkey, as a single server, with Sentinel, or as a cluster.
//
// With Sentinel, set DialerRetries to 1 in redis.FailoverOptions: attempts of go-redis multiply,
// so that a start with Sentinels that refuse connections takes half a minute. go-redis closes a
// connection without an answer after ReadTimeout; with -1, dropped connections fill the pool.
//
// # Durability
//
// Redis acknowledges writes that a crash or a failover can undo. [RELIABILITY.md] says which ids
// can repeat then, and for how long. To flush every write, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// A start logs a warning if the server has other settings, or does not show them.
// Replication is asynchronous: a failover can undo the last writes whatever the settings
// are. Choose etcd or an SQL database where no id may ever repeat.
//
// # Keys
//
// Two hashes, under the prefix {uidring}:workers:
//
//	{uidring}:workers:numbers   for each number the row, as JSON: token, reserved_until, last holder, times
//	{uidring}:workers:given     the least number that was never given
//
// Neither key expires. The hash tag, the part in braces, keeps both keys on one server of a
// cluster. Each operation is one Lua script, which takes the time from the server. A script that
// reaches a replica fails with ErrReplica.
//
// # Permissions
//
// The user needs the commands EVALSHA, EVAL, INFO, TIME, HGET, HMGET, HGETALL, HEXISTS and HSET
// on the two keys; CONFIG GET lets the start check appendfsync. Anyone who may
// write there can make ids repeat.
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
// [RELIABILITY.md]: https://github.com/uidring/uidring/blob/main/worker/lease/RELIABILITY.md
package workerredis
