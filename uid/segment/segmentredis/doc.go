// Package segmentredis keeps the counters of package segment in Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := segment.New(ctx, segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
//
// Redis 6.2 or later, or Valkey, as a single server, with Sentinel, or as a cluster.
// Make a counter once: uidringd segments create orders --dsn redis://host, or
// [Store.Create]. Leave segment.Config.Create false in
// services: after a loss of all data, it would start each counter at 1 again.
//
// # Keys
//
// Two hashes, under the prefix {uidring}:segments:
//
//	{uidring}:segments:next   for each tag the counter: the least id that nobody has reserved
//	{uidring}:segments:tags   for each tag its record: the highest counter so far, the step, and the last change in seconds since 1970
//
// Neither key expires. The prefix contains a hash tag, the part in braces, so that a
// cluster keeps both keys on one server. Each operation is one Lua script. A script
// that reaches a replica fails with [ErrReplica].
//
// # What is refused
//
// A script compares the counter with the highest counter in the record. If the
// counter is lower, or if the counter or the record has vanished, Reserve fails with
// [segment.ErrRewound]. If both have vanished, Reserve fails with
// [segment.ErrUnknownTag]. No script starts a counter again. [Store.Raise]
// repairs a counter: it sets the counter to the greatest of the two and the given
// value.
//
// # Requests are sent once
//
// A Store sends each request once, whatever the client's MaxRetries is. A second
// Return could give away the range of another process. Redis may reserve a range while
// its answer gets lost. No process issues ids of that range, and the generator reserves
// another one.
//
// # Durability
//
// Redis acknowledges writes that a crash or a failover can undo. Redis then hands out
// the ranges of those writes again, and ids repeat: package segment says which process
// notices. To flush every write, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// The first Reserve logs a warning if the server has other settings, does not show
// them, or has replicas. Replication is asynchronous: a failover can undo the last
// writes whatever the settings are. After FLUSHALL, an eviction or a restart without
// appendonly, both keys can be gone: Reserve fails with [segment.ErrUnknownTag], but
// Create makes the counter again, and ids repeat unless it begins above the highest id
// in use. Use package segmentsql where no id may ever repeat.
//
// # Permissions
//
// The user needs the commands EVAL, INFO, TIME, HGET, HGETALL, HSET and HINCRBY on
// the two keys; CONFIG GET lets the first Reserve check the settings.
package segmentredis
