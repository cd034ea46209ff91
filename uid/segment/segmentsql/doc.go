// Package segmentsql keeps the counters of package segment in SQL tables, through
// GORM, on SQLite, MySQL, MariaDB and PostgreSQL.
//
//	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{})
//
// [NewLeafAlloc] uses the table leaf_alloc exactly as Meituan's Leaf does, with one row and one
// step per tag, so Go and Java services can share it. [NewSequence] uses the table
// SEQUENCE(table_name, next_id), which has no step. A tag in two tables has two counters with
// equal ids: keep it in one table, or give [segment.NewStriped] one Store per database. Only
// Create and CreateGapless make the table and rows. The database user of a service needs the
// rights that [Store.Grants] returns, such as GRANT SELECT, UPDATE ON TABLE leaf_alloc TO ids.
// The command uidring schema prints all statements.
//
// One transaction reads the row under a lock, writes the counter only if it is unchanged, and reads
// it back. So ranges never overlap, at any isolation level, even on an engine without locks and
// transactions, or on a server that alters the value it stores. The Store retries a transaction
// that the database rolled back because of a conflict. It does not retry one with an unknown
// outcome: the range becomes a gap.
//
// The counter's column should be a BIGINT. A FLOAT, a DOUBLE or a text column fails with
// [segment.ErrUnusable]. Create makes no counter in a column below BIGINT, such as INT. An
// existing one works, with a warning, up to the column's maximum, where Reserve fails with
// segment.ErrUnusable. Both the warning and the error include the ALTER TABLE to run.
//
// Any gorm.Config works except DryRun. Behind a pooler in transaction mode, such as PgBouncer,
// PostgreSQL's DSN needs default_query_exec_mode=exec.
//
// A database that confirms commits before they are on disk can lose the last ones in a crash, so
// that ids repeat. At its first Reserve, a Store logs a warning if the server's settings or the
// table's engine allow that.
//
// [Store.NextGapless] draws gapless numbers inside the caller's transactions. To make the counter,
// run "uidring segments create invoices --gapless".
//
//	err = db.Transaction(func(tx *gorm.DB) error {
//		number, err := counters.NextGapless(tx, "invoices")
//		if err != nil {
//			return err
//		}
//		return tx.Create(&Invoice{Number: number}).Error // a rollback returns the number
//	})
package segmentsql
