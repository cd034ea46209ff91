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
// notices. The first Reserve logs a warning unless the server flushes every write, and never
// evicts. [README.md] has the settings, the keys and the permissions. Use package segmentsql where
// no id may ever repeat.
//
// [README.md]: https://github.com/uidring/uidring/blob/main/uid/segment/segmentredis/README.md
package segmentredis
