// Package worker gets a process its worker number from a database: the part of an
// id that no other process shares.
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number is free
// again when its holder stops or crashes. Package lease describes the protocol.
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: each start inserts a
// row into the table WORKER_NODE and takes the row's key as its number, which is
// never used again. The table is uid-generator's own, so Java and Go services can
// share it. Its numbers run out: 22 bits are four million starts. [docs/choosing.md]
// compares the two with each other and with other stores.
//
// All processes whose ids must differ have to use one database and one layout. Both
// tables remember the layout: see lease.ErrLayout.
//
// The package accesses the database through GORM and links no SQL driver. It supports
// MySQL, MariaDB, PostgreSQL and SQLite, with any gorm.Config except DryRun. Behind a pooler in
// transaction mode, such as PgBouncer, PostgreSQL's DSN needs default_query_exec_mode=exec.
//
// # The Registry
//
// Whatever the clocks show, all successful calls of Assign on one table return different
// numbers, from 1 to the layout's largest. You may delete old rows: the database
// does not hand out their numbers again. This guarantee assumes that
//
//   - all processes whose ids must differ use one table, by one name;
//   - the key counter never goes back, as it does when the table is restored from a copy.
//     [docs/reliability.md] lists the cases;
//   - no process is cloned after it got its number.
//
// # A Registry beside Leasers
//
// Registries and Leasers of one database get different numbers, whatever the order of their
// starts. As long as there are only Leasers, WORKER_LEASE counts their new numbers. The first
// start of a Registry makes the key of WORKER_NODE the authority, and raises the key above every
// number that was counted, assigned or given in a range. From then on, a Leaser's new number is
// also a key, from a row with WORKER_LEASE as its port. A service can therefore change from
// NewRegistry to NewLeaser, or back, one process at a time. Row -1 of WORKER_LEASE remembers the
// authority, which never returns to the count.
//
// A start with a range or an Assigner fails with [ErrMixed] if the keys have reached its
// number. The error names the ways out.
//
// A Registry in another language, or of an earlier version, takes keys without asking any Leaser.
// Plain Leasers are safe beside such a Registry once one of them, or a Registry of this package,
// has started after WORKER_NODE was created: start one before the other language's first process.
// Do not combine such a Registry with ranges and Assigners, because its keys will reach their
// numbers. Leasers of an earlier version share the tables too, but start the first Registry
// while none of them is starting: a Leaser that looked for WORKER_NODE before the table was
// created continues to count.
//
// The database user needs the rights that [Store.Grants] and [Registry.Grants] return,
// and the command uidring schema prints:
//
//	GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE TO ids
//	GRANT SELECT, INSERT, UPDATE ON WORKER_NODE TO ids
//	GRANT USAGE, UPDATE ON SEQUENCE worker_node_id_seq TO ids -- PostgreSQL, for a Registry's first start
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [docs/reliability.md]: https://github.com/uidring/uidring/blob/main/docs/reliability.md#a-registry
package worker
