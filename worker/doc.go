// Package worker gives a process its worker number from a database: the part of an
// id that no other process shares.
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: each start inserts one
// row into the table WORKER_NODE, and takes the row's key as its number, which is
// never used again. The table is uid-generator's own, so Java and Go services can
// share it. A Registry writes once, at the start. Its numbers run out: 22 bits are
// four million starts.
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number is free
// again when its holder stops or crashes. Use it if processes restart often, or
// if the layout has few worker bits. A holder writes four times a minute. If the
// database is unavailable for longer than a window (10 minutes of id space at the
// layout's rate), ids stop. Package lease has the protocol, and works with other
// stores.
//
// Packages workeretcd, workerkube, workerredis and workerzk have leasers for etcd,
// Kubernetes, Redis and ZooKeeper. [CHOOSING.md] compares the stores.
//
// [StatefulSet] is the ordinal of a Kubernetes pod. By itself it does not prevent two
// holders of one number; as the Assigner of a lease.Config, it does. [Attest] checks a
// Registry's rows while their numbers are in use.
//
// All processes whose ids must differ use one database and one layout. Each table
// remembers its layout. A start with another layout fails with lease.ErrLayout, unless
// Succeeds in the generator's config allows the change.
//
// The package uses the database through GORM and links no SQL driver. It supports
// MySQL, MariaDB, PostgreSQL and SQLite. Each start logs a warning if the database
// confirms commits before they are on the disk.
//
// # What the Registry promises
//
// All calls of Assign on one table that succeed return different numbers, from
// 1 to the layout's largest, whatever the clocks show. The database does not give a
// deleted row's number again, so you may delete old rows.
//
// # What the Registry assumes
//
//   - All processes whose ids must differ use one database, and WORKER_NODE, WORKER_LEASE
//     or both. With other names, they use one table, or tables that Beside in a config connects.
//   - The table's name means one table to all of them. On some servers, names that
//     differ only in case are two tables. A search path may find a table in another
//     schema; the config takes a qualified name.
//   - The key counter never goes back. If it does, numbers and ids can repeat; Attest
//     notices while a number is in use, a start cannot notice.
//   - A process is not cloned after it got its number (a virtual machine's snapshot,
//     a fork). Both clones would use one number.
//
// The key counter goes back when
//
//   - the table is truncated, dropped or renamed: Assign then creates a new table,
//     unless the config has NoSchema;
//   - the table is restored from an old backup, or a replica that lacks the last
//     commits is promoted;
//   - a server crashes that does not flush commits (synchronous_commit off,
//     innodb_flush_log_at_trx_commit other than 1);
//   - the highest row is deleted from a table of SQLite without AUTOINCREMENT, or, before
//     a restart, from InnoDB older than MySQL 8.0 or MariaDB 10.2.4.
//
// # Beside a Registry: from a Registry to a Leaser
//
// Change a service from NewRegistry to NewLeaser process by process, as any
// rolling change. Old and new processes get different numbers in every order of starts,
// also after a step back, and beside Java services. A Leaser's new
// number is a key of WORKER_NODE: the Leaser inserts a row there, as a Registry's start
// does, with WORKER_LEASE as the port. So one counter gives all new numbers. The keys
// that a Registry got are not given to Leasers. The database user needs the right to
// read WORKER_NODE and to insert into it.
//
// What could give a number twice fails with [ErrMixed], and names the ways out:
//
//   - Numbers or Assigner of a lease.Config, if the Registry's keys have reached the range;
//   - a Registry's start whose key a Leaser has: by such a range, or from before there was
//     a table WORKER_NODE. Each further start tries the next key.
//
// Each of the two commits its row first, then looks for the other's, and only then uses
// the number. So if both take one number, at least one of them is refused.
//
// If the Registry's numbers are used up, Leasers can use them again after a pause: stop
// every process that takes numbers from WORKER_NODE, wait until the clock is past their
// last id, rename WORKER_NODE, and start the Leasers.
//
// [RELIABILITY.md] says how each failure of a Registry ends, and which servers skip numbers.
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
// [RELIABILITY.md]: https://github.com/uidring/uidring/blob/main/worker/lease/RELIABILITY.md#a-registry
package worker
