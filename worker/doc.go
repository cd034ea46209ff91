// Package worker gives a process its worker number from a database: the part of an
// id that no other process shares.
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: each start inserts a
// row into the table WORKER_NODE, and takes the row's key as its number, which is
// never used again. The table is uid-generator's own, so Java and Go services can
// share it. Its numbers run out: 22 bits are four million starts.
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number is free
// again when its holder stops or crashes. Package lease has the protocol. [CHOOSING.md]
// compares the two, and the other stores.
//
// All processes whose ids must differ use one database and one layout, which the two
// tables remember: see lease.ErrLayout.
//
// The package uses the database through GORM and links no SQL driver. It supports
// MySQL, MariaDB, PostgreSQL and SQLite, with any gorm.Config but DryRun. Behind a pooler in
// transaction mode, such as PgBouncer, PostgreSQL's DSN needs default_query_exec_mode=exec.
//
// # The Registry
//
// All calls of Assign on one table that succeed return different numbers, from
// 1 to the layout's largest, whatever the clocks show. You may delete old rows: the database
// does not give their numbers again. This assumes that
//
//   - all processes whose ids must differ use one table, by one name;
//   - the key counter never goes back, as a restore from a copy makes it do. [RELIABILITY.md]
//     has the cases;
//   - no process is cloned after it got its number.
//
// # A Registry beside Leasers
//
// Registries and Leasers of one database get different numbers, in every order of starts. As
// long as there are only Leasers, WORKER_LEASE counts their new numbers. The first start of a
// Registry makes the key of WORKER_NODE the authority, above every number that was counted,
// assigned or given in a range. From then on, a Leaser's new number is a key too, from a row with
// WORKER_LEASE as its port. So you can change a service from NewRegistry to NewLeaser, or back,
// process by process. Row -1 of WORKER_LEASE remembers the authority, which the count never gets back.
//
// A start with a range or an Assigner whose number the keys have reached fails with [ErrMixed],
// which names the ways out.
//
// A Registry of another language, or of an earlier version, takes keys and asks no Leaser. Plain Leasers
// are safe beside it once one of them, or a Registry of this package, has started after
// WORKER_NODE was made: start one before the other language's first process. Do not combine such a Registry with
// ranges and Assigners: its keys reach their numbers. Leasers of an earlier version share the tables too, but start
// the first Registry while none of them is starting: one that has looked for WORKER_NODE before it was made counts on.
//
// The database user needs what [Store.Grants] and [Registry.Grants] return:
//
//	GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE TO ids
//	GRANT SELECT, INSERT, UPDATE ON WORKER_NODE TO ids
//	GRANT USAGE, UPDATE ON SEQUENCE worker_node_id_seq TO ids -- PostgreSQL, for a Registry's first start
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
// [RELIABILITY.md]: https://github.com/uidring/uidring/blob/main/worker/lease/RELIABILITY.md#a-registry
package worker
