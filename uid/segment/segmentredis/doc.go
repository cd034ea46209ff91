// Package segmentredis keeps the counters of package segment in Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := segment.New(ctx, segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
//
// Redis 6.2 or later, or Valkey, as a single server, with Sentinel, or as a cluster.
// Make a counter once: uidringd segments create orders --dsn redis://host, or
// [Store.Create]. Leave segment.Config.Create false in services: after a loss of all data, it
// would start each counter at 1 again.
//
// A script compares the counter with the highest counter in the record. If the
// counter is lower, or one of the two has vanished, Reserve fails with
// [uid.ErrRewound]. If both have vanished, it fails with [segment.ErrUnknownTag].
// [Store.Raise] sets the counter to the greatest of the two and the given value.
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
// The first Reserve logs a warning if the server has other settings, does not show them, or has
// replicas: replication is asynchronous, so a failover can undo the last writes whatever the
// settings are. After FLUSHALL, an eviction or a restart without appendonly, the counters are gone;
// one that is made again has to begin above the highest id in use. Use package segmentsql where no
// id may ever repeat.
//
// # Keys, requests and rights
//
// There are two hashes, which never expire: {uidring}:segments:next has the least id that nobody
// has reserved, by tag, and {uidring}:segments:tags a record of each tag: the highest counter so
// far, the step, and the last change in seconds since 1970. The hash tag in braces keeps both on
// one server of a cluster. Each operation is one Lua script, and fails if it reaches a replica.
//
// A Store sends each request once, whatever the client's MaxRetries is, because a second Return
// could give away the range of another process. A range whose answer is lost is a gap.
//
// [ACL] returns the rules of a user who may do no more than a Store does, and the command
// uidringd schema prints them. Without CONFIG GET, the first Reserve cannot check the settings.
package segmentredis
