// Package worker answers "who am I?": it hands a process its worker number,
// the part of an id that no other process shares.
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{})
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db), uid.Config{})
//
// [Registry] is uid-generator's DisposableWorkerIdAssigner: every start inserts
// one row into the table WORKER_NODE and takes the row's key for its number,
// used once and never again. The table is uid-generator's own, so that Java
// and Go services can share one. The rows (Row) answer to WorkerNodeEntity,
// and DetectNode to DockerUtils and NetUtils. It writes once, at the start, and
// its numbers run out: 22 bits are four million starts.
//
// [Leaser] gives numbers that come back, from a table of its own, WORKER_LEASE. It
// is for those who restart often, and for layouts with few worker bits. It writes
// some times a minute, and when the database is away for longer than a window,
// ids stop. It is what uid-generator promised as a reusable assigner.
//
// Those whose ids must differ all use one or all use the other: the two tables
// know nothing of each other's numbers.
//
// [StatefulSet] is the ordinal of a Kubernetes pod. By itself it is a promise of
// the caller's, as uid.StaticWorker is; with a Leaser the promise is kept
// (WithNumber). Attest has a Registry's rows looked at again while their numbers
// are in use.
//
// The package talks to the database through GORM and links no SQL driver. The
// schema is known for MySQL (and MariaDB), PostgreSQL and SQLite.
//
// # The Registry's protocol
//
// The authority is the database's key counter: AUTO_INCREMENT in MySQL, an
// identity sequence in PostgreSQL, AUTOINCREMENT in SQLite. Registry adds no
// counting, no locking and no clock of its own. Assign
//
//  1. looks whether the table is there and creates it if the database says that
//     it is not (EnsureSchema);
//  2. inserts a row in a transaction and reads back the key that the database
//     gave it; a key below 1 or above the layout's largest worker number, or
//     anything but one row inserted, rolls the row back;
//  3. commits;
//  4. reads the row by that key in a second transaction and compares it with
//     what it wrote;
//  5. returns the key.
//
// All of it happens on the connections that the *gorm.DB was opened with, in
// transactions of its own, so that a plugin that sends reads to replicas does
// not come in between. Nothing else that is set on the *gorm.DB (conditions,
// table prefix, hooks, logger, prepared statements, ...) changes what is
// written, except callbacks that are registered on it: those run, and what they
// do to the row is caught by step 4.
//
// # What the Registry promises
//
// Two calls of Assign on one table that both end without an error have
// different numbers, in 1..max, whatever the number of processes, whatever
// their clocks say. A number whose row was deleted is not given again, so old
// rows may be deleted.
//
// # What the Registry assumes
//
//   - One database and one table for all whose ids must differ. Two databases
//     both count from 1.
//   - The table's name means one table to all of them. Names that differ only in
//     case are two tables where the server says so, and so is a name that a role's
//     search path finds in another schema; WithTable takes a qualified name.
//   - The counter never goes back. It does when the table is truncated, when it
//     is dropped or renamed (Assign then makes a new one; WithoutSchema prevents
//     that), when it is restored from an old backup, when a replica that lacks the
//     last commits is promoted, and when InnoDB before MySQL 8.0 or MariaDB before 10.2.4
//     restarts after the row with the highest number was deleted: those forget
//     the counter and count on from the highest row. (Leave that row.) A table
//     that someone else made without AUTOINCREMENT in SQLite does the same at
//     once. After such an event numbers, and with them ids, can repeat. Attest
//     notices while the number is in use; a start cannot.
//   - A process is not cloned after it got its number (a virtual machine's
//     snapshot, a fork): both would go on with one number.
//
// # How each failure of the Registry ends
//
//   - The database is away at start: the driver's error, wrapped with what was
//     being done and the table. Nothing is retried and nothing half-made is left.
//   - The database goes away later: nothing happens. The number is good for the
//     life of the process.
//   - The insert is rolled back, by the server or for a key that may not be
//     used: an error and no number. The counter may have moved on: a gap.
//   - The commit's answer is lost, or the context ends after it: an error. The
//     row may be there, but its number is nobody's: a gap. The next start takes
//     another.
//   - The row that is read back is missing or is not the one that was written:
//     ErrKey.
//   - The clocks of process and database are more than a minute apart: a warning
//     in the log. Numbers do not depend on it, the times in ids do.
//   - Numbers run out: from 80 % of the layout's largest number on, every start
//     logs a warning; past it every start fails with an ExhaustedError, and
//     running processes are untouched. Numbers are never folded back by a modulo
//     or a mask. The way out is a layout with more worker bits, and since ids of
//     two layouts can meet, it is best taken before ids exist: 22 bits are
//     4,194,303 starts.
//
// # Servers that skip numbers
//
// Some servers leave gaps on purpose, which uses numbers up early. With
// auto_increment_increment above 1 (multi-primary MySQL, MariaDB Galera with
// wsrep_auto_increment_control) every start costs that many numbers; Assign
// looks and logs a warning. TiDB gives each of its servers a range of 30,000 and
// drops the rest when a server restarts; create the table there with
// AUTO_ID_CACHE 1. InnoDB and PostgreSQL do not take a number back when an
// insert is rolled back. A Leaser's numbers do not come from a key, so none of
// this concerns it.
//
// # The Leaser's protocol: authority
//
// An id carries its tick, so what the holder of a number needs to own is not time
// on a lease but ticks of the id space. The authority is the number's row:
//
//	worker_id       the number
//	token           a random one, made anew by every write
//	reserved_until  ticks that begin before it may have been stamped
//	heartbeat_at    when its holder wrote last, by the database's clock
//	host, port, type, created   for people who look at the table
//
// What a holder owns is a grant (number, from, until): it may stamp the ticks that
// begin at from or later and end at until or earlier. Four rules make it safe:
//
//  1. Reserve before stamping. until is a reserved_until that this holder's own
//     write has committed. What is not known to be committed is not granted.
//  2. Start where the last one ended. from is the reserved_until that stood in
//     the row when it was taken over; in a row that is new, it is nothing.
//  3. Compare and swap. Every write names the token that it read, does nothing if
//     the row has another by then, sets a fresh one, and looks whether it changed
//     exactly one row. reserved_until is only ever raised, but for the clean
//     release of rule 4.
//  4. A clean release lowers reserved_until to the end of the last tick that was
//     stamped, after the generator has been stopped so that no id can follow.
//
// By 3, the writes to a row form one chain, each made from what the one before it
// left. Let two holders have the grants (n, a, b) and (n, c, d), the first taken
// over earlier in the chain. Everything that the first ever committed stands
// before the second's takeover in the chain, for its writes after that name a
// token that is gone. So b, and what b was raised to, is at most the
// reserved_until that the second found, which is c. The two own no tick in common.
// No clock occurs in this, neither the holders' nor the database's, and no bound
// on how long anything takes: a holder may be stopped for a day and go on stamping
// to the end of its grant.
//
// The heartbeat only decides when a number may be taken, and the database's clock
// judges it. If it errs, a live holder loses its number and takes another.
//
// # The Leaser's states
//
// A number is free (given back), held (written within the expiry) or expired. A
// holder has none, acquires, holds, or has lost. It is a state machine that asks
// the row and is answered; package internal/lease has it, apart from database,
// clock and goroutine.
//
//   - To acquire, it takes a free or expired number whose reserved_until has
//     passed; else a new one, up to the layout's largest; else the one whose
//     reserved_until comes first. The second keeps the successor of a crash from
//     starting a window ahead where that is not needed.
//   - To renew, it reads the row, then writes. It does so four times in the span
//     of an expiry, and at once when half of what was reserved is used. It reserves
//     to the window beyond the present or beyond the last tick used, whichever is
//     later; when time is borrowed faster than beats come, further, so that writes
//     stay near one a second, but by no more than the holder is ahead of the clock
//     already.
//   - A write whose answer was lost, or that says it did nothing, is in doubt. The
//     row is read: with the token of that very write, it was done, now or later;
//     with the token from before, it was not so far, and it stays in doubt, since
//     it may be under way. An owner's name and a count would not do for that: a
//     clone of the process would take its twin's write for its own.
//   - With anyone else's token the number is lost. The holder's ids in waiting are
//     dropped, and it acquires anew, with backoff; its ids go on upwards.
//   - Row -1 counts the numbers given, so that one whose row is deleted is not
//     given again as new.
//
// # What the Leaser promises
//
// No two ids of one layout, made under numbers from one table, are equal; whatever
// the processes' and the database's clocks show, however long processes and
// statements are held up, whichever answers are lost, and whoever frees numbers by
// Free.
//
// # What the Leaser assumes
//
//   - One table for all, and nobody on it who does not keep to the protocol. Rows
//     are not edited. A row that is deleted takes the memory of what was stamped
//     along: its number is not given again by itself, but WithNumber claims it
//     from the present on.
//   - A committed write stays. A table restored from an old copy and a replica
//     promoted without the last commits break that, and so does a crash of the
//     server's machine where commits are not flushed: innodb_flush_log_at_trx_commit
//     other than 1, synchronous_commit off, SQLite with synchronous below FULL in
//     WAL mode. Holders notice at their next beat (ErrRewound), stop and take
//     other numbers; ids stamped from the copy until then can repeat.
//   - A process is not cloned while it holds a number (a virtual machine's
//     snapshot, a fork): both own what was reserved by then. At the next beat one
//     of them loses the number, so no more than that window can repeat.
//   - The clock that stamps ids is right within WithMaxSkew at the start, for time
//     reserved by a wrong one stays reserved. One that steps ahead later takes its
//     ids along, and the number rests until that time has come; the log has a
//     warning. This is about use, not about safety.
//
// # How each failure of the Leaser ends
//
//   - The database is away at start: the driver's error. Transactions that get
//     into each other's way are tried again for half a minute.
//   - The database is away later: ids go on to the end of the window (10 minutes,
//     WithWindow), with a line in the log at once; then Next fails with an error
//     that has the driver's in it and matches uid.ErrReservation. When the database
//     is back, so are ids.
//   - The process is killed: its number is expired after WithExpiry (a minute), and
//     whoever takes it starts where the dead had reserved to. That matters where the
//     number is given (WithNumber) or the last one: uid.Cached stamps ahead of the
//     clock then, if MaxBorrow allows it, and uid.Default has to wait.
//   - The process is stopped for longer than the expiry: the same, and when it goes
//     on, it uses what it owns, finds the number lost at its first beat, and takes
//     another.
//   - Close cannot reach the database: an error after 5 seconds, or when a statement
//     under way lets go, which in SQLite is its busy timeout. As with a kill.
//   - All numbers are held: ExhaustedError, with how many are.
//   - The number that WithNumber asks for is held: ErrHeld, which says by whom. A
//     pod that was killed can start again when its lease has expired.
//   - A clock that is wrong at the start: SkewError, and no row is written.
//
// RELIABILITY.md, beside this file, tells how all this is tested and with what
// result, and lease.pml is a model of it.
package worker
