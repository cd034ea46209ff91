// Package worker takes a worker number, the part of an id that no other process shares, from a
// database.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number becomes free when its holder
// stops or crashes. Package lease describes the protocol. Most services want a Leaser.
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: each start inserts a row into the
// table WORKER_NODE and takes the row's key as its number, which is never reused. The table is
// uid-generator's own, so Java and Go services can share it. Its numbers run out: 22 bits allow
// four million starts. [docs/choosing.md] compares the two with each other and with other stores.
//
// All processes whose ids must differ must use one database and one layout. Both tables remember
// the layout: see lease.ErrLayout.
//
// The package accesses the database through GORM and links no SQL driver. It supports
// MySQL, MariaDB, PostgreSQL and SQLite, with any gorm.Config except DryRun. Behind a pooler in
// transaction mode, such as PgBouncer, PostgreSQL's DSN needs default_query_exec_mode=exec.
//
// # The Registry
//
// Whatever the clocks show, all successful calls to Assign on one table return different numbers,
// from 1 to the layout's largest. You may delete old rows, because the database never reuses their
// keys. This guarantee assumes that
//
//   - all processes whose ids must differ use one table, under one name;
//   - the key counter never goes back, as it would if the table were restored from a backup
//     ([docs/reliability.md] lists the cases);
//   - no process is cloned after it has its number.
//
// # Registry and Leasers in one database
//
// Registries and Leasers in one database get different numbers, in whatever order they start. As
// long as there are only Leasers, WORKER_LEASE counts their new numbers. The first Registry to
// start makes WORKER_NODE's key counter the authority, and raises it above every number that was
// counted, assigned or given in a range. From then on, each new number of a Leaser is also a key,
// from a row of WORKER_NODE whose port is WORKER_LEASE. So a service can change from NewRegistry to
// NewLeaser, or back, one process at a time. Row -1 of WORKER_LEASE records the change of
// authority, which is final.
//
// A Leaser with a range or an Assigner fails to start, with [ErrMixed], if the keys have reached
// its numbers. The error says what you can do.
//
// A Registry in another language, or from an earlier version, takes keys without asking any Leaser.
// Plain Leasers are safe beside such a Registry once one of them, or a Registry from this package,
// has started after WORKER_NODE was created. So start one before the other language's first
// process. Do not combine such a Registry with ranges and Assigners, because its keys will reach
// their numbers. Leasers from an earlier version can share the tables too, but none may be starting
// when the first Registry starts: a Leaser that looked for WORKER_NODE before the table existed
// goes on counting.
//
// The database user needs the rights that [Store.Grants] and [Registry.Grants] return, and "uidring
// schema" prints:
//
//	GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE TO ids
//	GRANT SELECT, INSERT, UPDATE ON WORKER_NODE TO ids
//	GRANT USAGE, UPDATE ON SEQUENCE worker_node_id_seq TO ids -- PostgreSQL, for a Registry's first start
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md#a-registry
package worker
