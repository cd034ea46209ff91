// Package workerredis leases worker numbers from Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := uid.NewCached(ctx, workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options and errors of package worker/lease. The
// guarantees of that package hold as long as Redis keeps every write that it has acknowledged: see
// Durability. [docs/choosing.md] compares the stores. The package needs Redis 6.2 or later, or
// Valkey, as a single server, with Sentinel, or as a cluster.
//
// With Sentinel, set DialerRetries to 1 in redis.FailoverOptions. Otherwise, go-redis's retries
// multiply, and if the Sentinels refuse connections, startup fails only after half a minute.
// go-redis closes a connection that gets no answer within ReadTimeout; if ReadTimeout is -1, dead
// connections fill the pool.
//
// # Durability
//
// A crash or failover can lose writes that Redis has acknowledged. [docs/reliability.md] explains
// which ids can then repeat, and for how long. To make Redis fsync every write and never evict a
// key, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// A Leaser logs a warning if the server's settings permit lost writes, or cannot be read.
// Replication is asynchronous: a failover can lose the last writes whatever the settings. Where ids
// must never repeat, choose another store, such as etcd or an SQL database.
//
// # Keys
//
// A Store with the prefix {uidring}:workers uses these keys:
//
//	{uidring}:workers:numbers   a hash: for each number the row, as JSON: token, reserved_until, last holder, times
//	{uidring}:workers:given     a hash: the next new number of each range
//	{uidring}:workers:layout    the layout of the ids
//
// No key expires. The hash tag, the part in braces, keeps the keys on one server of a cluster.
// Each operation is one Lua script, which uses the server's clock. A script that reaches a
// replica fails with ErrReplica, and the client closes the connection.
//
// # Permissions
//
// [ACL] returns the rules for a user that may do only what a Store does. For the default prefix:
//
//	ACL SETUSER ids on >secret ~{uidring}:workers:numbers ~{uidring}:workers:given ~{uidring}:workers:layout
//	  +eval +evalsha +get +set +hget +hgetall +hmget +hexists +hset +ping +info +time +config|get +cluster|slots +command
//
// Without CONFIG GET, a Leaser cannot check the settings, and logs a warning. Only cluster clients
// send CLUSTER SLOTS, and only uidringd sends PING. Anyone who can write these keys can make ids
// repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
package workerredis
