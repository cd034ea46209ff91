// Package worker gets worker numbers from a database. A worker number is the part of an id that
// no two processes share.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//
// [NewLeaser] leases numbers in the table WORKER_LEASE: a number can be reused after its holder
// has stopped or crashed. Package lease describes the protocol. Most services want a Leaser.
//
// [Registry] works like DisposableWorkerIdAssigner in Baidu's uid-generator: each generator that
// starts inserts a row into the table WORKER_NODE and takes the row's key as its number, which is
// never reused. The table is uid-generator's own, so Java and Go services can share it. A
// Registry's numbers run out: 22 bits allow four million starts. [docs/choosing.md] compares
// Leasers and Registries with each other and with other stores.
//
// All processes whose ids must differ must use the same database and the same layout. The database
// remembers the layout of the first start, and generators whose config states no layout follow it. A
// new table gives a Leaser's generators [bits.Fleet], and a Registry's [bits.Registry].
//
// The package accesses the database through GORM and links no SQL driver. It supports MySQL,
// MariaDB, PostgreSQL and SQLite, with any gorm.Config except DryRun. If PostgreSQL is behind a
// pooler such as PgBouncer in transaction mode, the DSN needs default_query_exec_mode=exec.
//
// # New numbers
//
// In one database, new numbers are keys of WORKER_NODE, and come from nowhere else. A Registry
// inserts a row at each start. A Leaser takes over a free row of WORKER_LEASE; only if none is
// free, it inserts a row of WORKER_NODE, whose PORT is WORKER_LEASE, and leases its key. So Leasers
// and Registries, those in other languages too, get different numbers, in whatever order they
// start. A service can change from NewRegistry to NewLeaser, or back, one process at a time. All
// successful calls to Assign return different numbers, from 1 to the layout's largest, even after
// you delete rows that [docs/production.md] allows you to delete. This guarantee assumes that
//
//   - all processes whose ids must differ use the same tables;
//   - the key counter never goes backward, as it would if the table were restored from a backup,
//     or, on some databases, if its highest row were deleted ([docs/reliability.md] lists the
//     cases). A start skips a key that is leased, and fails after three of them in a row; then
//     run "uidring workers raise", or call [Store.Raise];
//   - no process is cloned after it has taken its number.
//
// Leasers with Numbers or an Assigner choose their numbers themselves. The numbers of a database are
// either drawn one after another or divided by configs: the first start decides, and starts of the
// other kind fail with a [KindError]. A Registry in another language does not read that decision,
// so keep it away from a database in which Leasers choose their numbers.
//
// Row -1 of WORKER_NODE records the layout of the ids, and whether numbers are drawn or divided. Its
// dates are in 2037, so a job that deletes old rows leaves it. If it is lost, starts fail, and the
// error has the statement that restores it.
//
// The database user needs the privileges that [Store.Grants] and [Registry.Grants] return and
// that "uidring schema" prints:
//
//	GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE TO ids
//	GRANT SELECT, INSERT ON WORKER_NODE TO ids
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md#a-registry
// [docs/production.md]: https://github.com/uidring/uidring/blob/main/docs/production.md#what-a-dba-may-do
package worker
