// Package worker gets worker numbers from a database. A worker number is the part of an id that
// no two processes share.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number can be reused after its holder
// has stopped or crashed. Package lease describes the protocol. Most services want a Leaser.
//
// [Registry] works like DisposableWorkerIdAssigner in Baidu's uid-generator: each generator that
// starts inserts a row into the table WORKER_NODE and takes the row's key as its number, which is
// never reused. The table is uid-generator's own, so Java and Go services can share it. A
// Registry's numbers run out: 22 bits allow four million starts. [docs/choosing.md] compares
// Leasers and Registries with each other and with other stores.
//
// All processes whose ids must differ must use the same database and the same layout. Both tables
// remember the layout: see lease.ErrLayout.
//
// The package accesses the database through GORM and links no SQL driver. It supports MySQL,
// MariaDB, PostgreSQL and SQLite, with any gorm.Config except DryRun. If PostgreSQL is behind a
// pooler such as PgBouncer in transaction mode, the DSN needs default_query_exec_mode=exec.
//
// # The Registry
//
// Whatever the clocks show, all successful calls to Assign on the same table return different
// numbers, from 1 to the layout's largest, even after you delete old rows. This guarantee assumes
// that
//
//   - all processes whose ids must differ use the same table, under the same name;
//   - the key counter never goes backward, as it would if the table were restored from a backup,
//     or, on some databases, if its highest row were deleted ([docs/reliability.md] lists the
//     cases);
//   - no process is cloned after it has taken its number.
//
// # Registry and Leasers in one database
//
// Registries and Leasers in the same database get different numbers, in whatever order they
// start. As long as there are only Leasers, new numbers come from a counter in WORKER_LEASE. The
// first Registry to start makes WORKER_NODE's key counter the authority for new numbers; so does
// the first Leaser to start once WORKER_NODE exists. The change also raises the counter above
// every number that Leasers have been given, including those from ranges and Assigners. From then
// on, each new number of a Leaser is also the key of a WORKER_NODE row whose PORT is
// WORKER_LEASE. So a service can change from NewRegistry to NewLeaser, or back, one process at a
// time. Row -1 of WORKER_LEASE records the change of authority, which is final.
//
// A Leaser with a range or an Assigner fails to start, with [ErrMixed], if the keys of WORKER_NODE
// have reached its numbers. The error says what you can do about it.
//
// A Registry that is written in another language, or comes from an earlier version, takes keys
// without checking the Leasers' numbers. Leasers without a range or an Assigner can safely run
// alongside such a Registry, provided that one of them, or a Registry from this package, has
// started since WORKER_NODE was created. So once that table exists, start a Leaser or this
// package's Registry before the first process that uses the other Registry. Do not combine such a
// Registry with ranges or Assigners, because its keys will reach their numbers. Leasers from an
// earlier version can share the tables too, but none may be starting when the first Registry
// starts: a Leaser that looked for WORKER_NODE before the table existed keeps taking new numbers
// from WORKER_LEASE.
//
// The database user needs the privileges that [Store.Grants] and [Registry.Grants] return and
// that "uidring schema" prints:
//
//	GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE TO ids
//	GRANT SELECT, INSERT, UPDATE ON WORKER_NODE TO ids
//	GRANT USAGE, UPDATE ON SEQUENCE worker_node_id_seq TO ids -- PostgreSQL, to raise the key counter
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md#a-registry
package worker
