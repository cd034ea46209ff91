// Package segmentsql keeps the counters of package segment in SQL tables, through
// GORM, on SQLite, MySQL, MariaDB and PostgreSQL.
//
//	gen, err := segment.New(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{}), "orders", segment.Config{})
//
// [NewLeafAlloc] uses the table leaf_alloc exactly as Meituan's Leaf does, with one row and one
// step per tag, so Go and Java services can share it. [NewSequence] uses the table
// SEQUENCE(table_name, next_id), which has no step. A tag in two tables has two counters, which
// issue the same ids: keep it in one table, or give [segment.NewStriped] one Store per database.
// Only Create and CreateGapless create the table and rows. The database user of a service needs the
// privileges that [Store.Grants] returns, such as SELECT, UPDATE ON TABLE leaf_alloc. The command
// uidring schema prints the SQL for all of this.
//
// To reserve a range, one transaction raises the counter while no other can, and reads it back. So
// ranges do not overlap, whatever the isolation level, even on an engine without locks or
// transactions, or on a server that alters the value it stores. On MySQL and MariaDB, the
// transaction writes before it reads, so that a server that is being made read-only, or locked for a
// backup, does not stand still. The Store retries a transaction that the database rolled back
// because of a conflict. It does not retry one with an unknown outcome: the range may become a gap.
//
// The counter's column should be a BIGINT. With a FLOAT, DOUBLE or text column, Reserve fails with
// [segment.ErrUnusable]. Create refuses a column narrower than BIGINT, such as INT. An existing
// counter in such a column works, with a warning, until it reaches the column's maximum; then
// Reserve fails with segment.ErrUnusable. Both the warning and the error include the ALTER TABLE
// statement to run.
//
// Any gorm.Config works except one that sets DryRun. If PostgreSQL is behind a pooler in
// transaction mode, such as PgBouncer, its DSN needs default_query_exec_mode=exec.
//
// A database that confirms commits before they are on disk can lose the last ones in a crash, and
// ids then repeat. At its first Reserve, a Store logs a warning if the server's settings or the
// table's engine allow that.
//
// [Store.NextGapless] draws gapless numbers inside the caller's transactions. To create the
// counter, run "uidring segments create invoices --gapless".
//
//	err = db.Transaction(func(tx *gorm.DB) error {
//		number, err := counters.NextGapless(tx, "invoices")
//		if err != nil {
//			return err
//		}
//		return tx.Create(&Invoice{Number: number}).Error // a rollback returns the number
//	})
package segmentsql
