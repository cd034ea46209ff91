// Package workerredis leases worker numbers from Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := uid.NewCached(ctx, workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [docs/choosing.md] compares the stores. The package needs Redis 6.2 or
// later, or Valkey, as a single server, with Sentinel, or as a cluster.
//
// With Sentinel, set DialerRetries to 1 in redis.FailoverOptions: attempts of go-redis multiply,
// so that a start with Sentinels that refuse connections takes half a minute. go-redis closes a
// connection without an answer after ReadTimeout; with -1, dropped connections fill the pool.
//
// # Durability
//
// Redis acknowledges writes that a crash or a failover can undo. [docs/reliability.md] says which ids
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
// Under the prefix {uidring}:workers:
//
//	{uidring}:workers:numbers   a hash: for each number the row, as JSON: token, reserved_until, last holder, times
//	{uidring}:workers:given     a hash: the least number that was never given, for each range
//	{uidring}:workers:layout    the layout of the ids
//
// No key expires. The hash tag, the part in braces, keeps the keys on one server of a
// cluster. Each operation is one Lua script, which takes the time from the server. A script that
// reaches a replica fails with ErrReplica, and the client closes the connection.
//
// # Permissions
//
// [ACL] returns the rules of a user who may do what a Store does, and no more. For the default
// prefix:
//
//	ACL SETUSER ids on >secret ~{uidring}:workers:numbers ~{uidring}:workers:given ~{uidring}:workers:layout
//	  +eval +evalsha +get +set +hget +hgetall +hmget +hexists +hset +ping +info +time +config|get +cluster|slots +command
//
// Without CONFIG GET a start cannot check the settings, and warns. Only a client of a cluster
// sends CLUSTER SLOTS, and only uidringd PING. Anyone who may write there can make ids repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
package workerredis
