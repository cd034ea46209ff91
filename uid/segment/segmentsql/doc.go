// Package segmentsql keeps the counters of package segment in SQL tables, through
// GORM, on SQLite, MySQL, MariaDB and PostgreSQL.
//
//	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{})
//
// [NewLeafAlloc] uses the table leaf_alloc exactly as Meituan's Leaf does: one row for each tag,
// with a step of its own. Go and Java services can share the table. [NewSequence] uses
// the table SEQUENCE(table_name, next_id), which has no step. Two tables have two counters
// of one tag, whose ids are equal: keep a tag in one table, or give [segment.NewStriped] one
// Store for each database. Only Create and CreateGapless make the table and rows. The
// database user of a service needs what [Store.Grants] returns, such as
// GRANT SELECT, UPDATE ON TABLE leaf_alloc TO ids. The command uidring schema prints all statements.
//
// One transaction reads the row under a lock, writes the counter on condition that it
// is unchanged, and reads it back. So ranges never overlap, at any isolation level, on
// an engine without locks and transactions, and on a server that writes another value
// than it was given. The Store retries a transaction that the database rolled back because
// of a collision. It does not retry one with an unknown outcome: the range is a gap.
//
// The column of the counter is a BIGINT. A FLOAT, a DOUBLE or a text is refused with
// [segment.ErrUnusable]. In a narrower column, such as an INT, no counter is created.
// One that is there works up to the column's end, where Reserve fails with
// segment.ErrUnusable. Warning and error have the ALTER TABLE to run.
//
// Any gorm.Config works but DryRun. Behind a pooler in transaction mode, such as PgBouncer, PostgreSQL's
// DSN needs default_query_exec_mode=exec.
//
// A database that confirms commits before they are on the disk can lose the last ones in
// a crash, and ids repeat. A Store logs a warning at its first Reserve if the server's
// settings or the kind of the table allow that.
//
// [Store.NextGapless] draws numbers without a gap, inside the caller's transactions. The command
// uidring segments create invoices --gapless makes the counter.
//
//	err = db.Transaction(func(tx *gorm.DB) error {
//		number, err := counters.NextGapless(tx, "invoices")
//		if err != nil {
//			return err
//		}
//		return tx.Create(&Invoice{Number: number}).Error // a rollback returns the number
//	})
package segmentsql
