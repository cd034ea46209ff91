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
// MySQL, MariaDB, PostgreSQL and SQLite.
//
// # The Registry
//
// All calls of Assign on one table that succeed return different numbers, from
// 1 to the layout's largest, whatever the clocks show. You may delete old rows: the database
// does not give their numbers again. This assumes that
//
//   - all processes whose ids must differ use one table, by one name;
//   - the key counter never goes back, as a restore from a copy makes it do. Attest notices
//     while a number is in use; a start cannot. [RELIABILITY.md] has the cases;
//   - no process is cloned after it got its number.
//
// # From a Registry to a Leaser
//
// Change a service from NewRegistry to NewLeaser process by process. Old and new processes
// get different numbers in every order of starts, also after a step back, and beside Java
// services: a Leaser's new number is a key of WORKER_NODE, from a row with WORKER_LEASE as the
// port. The database user needs the right to read WORKER_NODE and to insert into it. For
// another layout, by Succeeds, the user needs the right to update WORKER_NODE too.
//
// A Leaser's start with a range or an Assigner that the Registry's keys have reached fails with
// [ErrMixed], which names the ways out. A Registry's start whose key a Leaser has takes the next
// key. Each of the two commits its row first, then looks for the other's, and only then uses
// the number. So if both take one number, at least one of them gives it up.
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
// [RELIABILITY.md]: https://github.com/uidring/uidring/blob/main/worker/lease/RELIABILITY.md#a-registry
package worker
