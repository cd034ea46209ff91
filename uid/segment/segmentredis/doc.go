// Package segmentredis keeps the counters of package segment in Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := segment.New(ctx, segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
//
// It needs Redis 6.2 or later, or Valkey, as a single server, with Sentinel, or as a cluster.
// Create each counter once: uidringd segments create orders --dsn redis://host, or [Store.Create].
// Leave segment.Config.Create false in services: after a loss of all data, Create would restart
// each counter at 1.
//
// Beside each counter, Redis keeps a record of the highest value it has had. If the counter is
// lower, or one of the two has vanished, Reserve fails with [uid.ErrRewound]. If both have
// vanished, it fails with [segment.ErrUnknownTag]. [Store.Raise] sets the counter to the greatest
// of counter, record and the given value.
//
// A crash or failover can undo writes that Redis has acknowledged. Redis then hands out the ranges
// of those writes again, and ids repeat: package segment says when a process can detect this. To
// flush every write, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// The first Reserve logs a warning if the server has other settings, hides them, or has replicas:
// replication is asynchronous, so a failover can undo the last writes whatever the settings.
// After FLUSHALL, an eviction or a restart without appendonly, the counters are gone; recreate
// each above the highest id in use. Where no id may ever repeat, use package segmentsql.
//
// # Keys, requests and rights
//
// There are two hashes by tag, which never expire. {uidring}:segments:next holds the least id that
// nobody has reserved. {uidring}:segments:tags holds the record: the highest counter so far, the
// step, and the last change in seconds since 1970. The hash tag in braces keeps both on one server
// of a cluster. Each operation is one Lua script, which fails on a replica.
//
// A Store sends each request only once, whatever the client's MaxRetries, because a second Return
// could give away another process's range. A range whose answer is lost becomes a gap.
//
// [ACL] returns the rules for a user that may do no more than a Store does; the command uidringd
// schema prints them. Without CONFIG GET, the first Reserve cannot check the settings.
package segmentredis
