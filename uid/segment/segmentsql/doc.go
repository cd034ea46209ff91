// Package segmentsql keeps the counters of package segment in SQL tables, through
// GORM, on SQLite, MySQL, MariaDB and PostgreSQL.
//
//	gen, err := segment.New(ctx, segmentsql.LeafAlloc(db), "orders", segment.Config{})
//
// [LeafAlloc] uses the table leaf_alloc exactly as Leaf does: one row for each tag,
// with a step of its own. Go and Java services can share the table. [Sequence] uses
// the table SEQUENCE(table_name, next_id), which has no step. [Rows] spreads the rows
// of one tag over databases.
//
// # How a range is reserved
//
// One transaction reads the row under a lock, and writes the counter on condition
// that it is unchanged. So ranges never overlap, at any isolation level, and even on
// an engine without locks and transactions. The Store retries a transaction that the
// database rolled back because of a collision. It does not retry a transaction with
// an unknown outcome: the range is a gap.
//
// # Making tables and rows
//
// Only Create makes the table and rows. segment.Config.Create and the command uidring
// segments create call it. The database user of a service needs the rights to SELECT
// and UPDATE.
package segmentsql
