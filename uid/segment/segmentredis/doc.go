// Package segmentredis keeps the counters of package segment in Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	gen, err := segment.New(ctx, segmentredis.New(client, segmentredis.Config{}), "orders", segment.Config{})
//
// It needs Redis 6.2 or later, or Valkey: standalone, with Sentinel, or as a cluster. Create each
// counter once, with "uidringd segments create orders --dsn redis://host" or [Store.Create]. Leave
// segment.Config.Create false in services: if all data were lost, Create would restart each counter
// at 1.
//
// Alongside each counter, Redis keeps a record of the counter's highest value so far. If the
// counter is lower, or one of the two has vanished, Reserve fails with [uid.ErrRewound]. If both
// have vanished, it fails with [segment.ErrUnknownTag]. [Store.Raise] sets the counter to the
// greatest of three values: the counter, its record and the argument of Raise.
//
// A crash or failover can undo writes that Redis has acknowledged. Redis then hands out the ranges
// of those writes again, and ids repeat: package segment explains when a process can detect this.
// To make Redis flush every write and never evict a key, set
//
//	appendonly yes
//	appendfsync always
//	no-appendfsync-on-rewrite no
//	maxmemory-policy noeviction
//
// The first Reserve logs a warning if the server's settings differ from these or cannot be read, or
// if the server has replicas: replication is asynchronous, so a failover can undo the last writes
// whatever the settings. After FLUSHALL, an eviction or a restart without appendonly, counters may
// be missing or out of date: create or raise each above the highest id in use. Where ids must never
// repeat, use package segmentsql on a database that confirms a commit only once it is on disk.
//
// # Keys, requests and permissions
//
// There are two hashes, keyed by tag, which never expire. {uidring}:segments:next holds the least
// id that nobody has reserved. {uidring}:segments:tags holds the record: the highest value of the
// counter so far, the step, and the time of the last change, in seconds since 1970. The hash tag
// in braces keeps both on one node of a cluster. Each operation is one Lua script, which fails on
// a replica.
//
// A Store sends each request only once, whatever the client's MaxRetries, because a second Return
// could give away another process's range. If the reply to a Reserve is lost, its range becomes a
// gap.
//
// [ACL] returns the rules for a user that may do no more than a Store does; the command uidringd
// schema prints them. Without permission for CONFIG GET, the first Reserve cannot check the
// settings.
package segmentredis
