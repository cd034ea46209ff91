// Package worker gives a process its worker number from a database: the part of an
// id that no other process shares.
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{})
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db), uid.Config{})
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: each start inserts one
// row into the table WORKER_NODE, and takes the row's key as its number, which is
// never used again. The table is uid-generator's own, so Java and Go services can
// share one. A Registry writes once, at the start. Its numbers run out: 22 bits are
// four million starts.
//
// [NewLeaser] leases numbers from the table WORKER_LEASE: a number is free
// again when its holder stops or crashes. Use it if processes restart often, or
// if the layout has few worker bits. It writes four times a minute. When the
// database is away for longer than a window (10 minutes of id space at the
// layout's rate), ids stop. Package lease explains why that is safe, and works
// with other stores.
//
// Packages workeretcd, workerredis and workerzk have leasers for etcd, Redis and
// ZooKeeper. The page CHOOSING.md beside this file compares the stores.
//
// [StatefulSet] is the ordinal of a Kubernetes pod. Used alone, it is a promise
// of the caller's, like uid.StaticWorker; a leaser keeps that promise
// (lease.WithNumber). [Attest] checks a Registry's rows while their numbers are
// in use.
//
// Processes that must not share ids use the same table and the same layout: the
// tables know nothing of each other's numbers, and ids of two layouts may be
// equal.
//
// The package talks to the database through GORM and links no SQL driver. It
// knows the schema for MySQL (and MariaDB), PostgreSQL and SQLite. Each start
// logs a warning if the database confirms commits before they are on the disk.
//
// # What the Registry promises
//
// All calls of Assign on one table that succeed return different numbers, from
// 1 to the layout's largest, whatever the clocks show. A deleted row's number
// is not given again, so old rows may be deleted.
//
// # What the Registry assumes
//
//   - One database and one table for all processes that must not share ids.
//   - The table's name means one table to all of them. Names that differ only in
//     case are two tables where the server says so. A search path may find a table
//     in another schema; WithTable takes a qualified name.
//   - The counter never goes back. After it does, numbers and ids can repeat;
//     Attest notices while the number is in use, a start cannot. The counter
//     goes back when the table is truncated, dropped or renamed (Assign then
//     creates a new one; WithoutSchema prevents that), when it is restored from
//     an old backup, or when a replica that lacks the last commits is promoted.
//     A crash of the server is enough where commits are not flushed
//     (synchronous_commit off, innodb_flush_log_at_trx_commit other than 1).
//     InnoDB before MySQL 8.0 or MariaDB before 10.2.4 counts from the highest
//     row after a restart: keep that row. A table of SQLite without
//     AUTOINCREMENT always does.
//   - A process is not cloned after it got its number (a virtual machine's snapshot,
//     a fork): both would go on with one number.
//
// # How each failure of the Registry ends
//
//   - The database is away at the start: the driver's error, with the operation
//     and the table. Nothing is retried, and nothing half-made is left.
//   - The database is away later: nothing happens. The number stays valid for
//     the life of the process.
//   - The insert is rolled back: an error and no number. The counter may have moved
//     on, which leaves a gap.
//   - The commit's answer is lost, or the context ends after it: an error. The row
//     may be there, but nobody uses its number.
//   - The row that is read back is missing, or is not the one that was written:
//     ErrKey.
//   - The clocks of process and database are more than a minute apart: a warning.
//     Numbers do not depend on clocks; the times in ids do.
//   - Numbers run out: from 80 % of the layout's largest number on, each start logs a
//     warning. Past it each start fails with a lease.ExhaustedError, and running
//     processes go on. Take a layout with more worker bits before that, or a leaser.
//
// # How the Registry works
//
// The authority is the database's key counter: AUTO_INCREMENT in MySQL, an identity
// sequence in PostgreSQL, AUTOINCREMENT in SQLite. Assign
//
//  1. looks for the table, and creates it if the database says that it is not there;
//  2. inserts a row in a transaction, and rolls it back if the key is below 1 or
//     above the layout's largest number, or if anything but one row was inserted;
//  3. commits;
//  4. reads the row by its key in a second transaction, and compares it with what
//     was written;
//  5. returns the key.
//
// All steps run in transactions on the connections that the *gorm.DB was opened
// with, so plugins cannot send reads to replicas. Callbacks registered on the
// *gorm.DB run; step 4 catches what they do to the row. Other settings of the
// *gorm.DB have no effect on what is written.
//
// # Servers that skip numbers
//
// Some servers leave gaps on purpose. With auto_increment_increment above 1
// (multi-primary MySQL, MariaDB Galera) each start costs that many numbers; Assign
// logs a warning. TiDB gives each of its servers a range of 30,000 and drops the rest
// when a server restarts: create the table there with AUTO_ID_CACHE 1. InnoDB and
// PostgreSQL do not take a number back when an insert is rolled back. A leaser's
// numbers do not come from a key, so this does not concern it.
package worker
