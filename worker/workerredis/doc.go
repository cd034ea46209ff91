// Package workerredis leases worker numbers from Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := uid.NewCached(ctx, workerredis.NewLeaser(client, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [docs/choosing.md] compares the stores. The package needs Redis 6.2 or later, or
// Valkey, as a single server, with Sentinel, or as a cluster.
//
// With Sentinel, set DialerRetries to 1 in redis.FailoverOptions: go-redis's retries multiply, so
// if Sentinels refuse connections, starting takes half a minute to fail. go-redis closes a
// connection that gets no answer after ReadTimeout; with -1, dead connections fill the pool.
//
// # Durability
//
// A crash or failover can undo writes that Redis has acknowledged. [docs/reliability.md] says
// which ids can then repeat, and for how long. To flush every write, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// A Leaser logs a warning if the server has other settings, or hides them. Replication is
// asynchronous: a failover can undo the last writes whatever the settings. Where no id may ever
// repeat, choose etcd or an SQL database.
//
// # Keys
//
// Under the prefix {uidring}:workers:
//
//	{uidring}:workers:numbers   a hash: for each number the row, as JSON: token, reserved_until, last holder, times
//	{uidring}:workers:given     a hash: the least number never given out, for each range
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
// send CLUSTER SLOTS, and only uidringd sends PING. Any writer of these keys can make ids repeat.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md
package workerredis
