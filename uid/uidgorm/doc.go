// Package uidgorm is a GORM plugin that fills the primary keys of new rows with ids
// from a generator of package uid, before they are inserted:
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	err = db.Use(uidgorm.New(gen, uidgorm.Config{}))
//	...
//	err = db.Create(&order) // order.ID is set
//
// A model opts in by the type of its primary key, or by a tag for another integer of 64 bits:
//
//	ID uid.ID // or *uid.ID, a struct{ uid.ID }, or Reversed
//	ID int64 `gorm:"primaryKey;autoIncrement:false;uid"`
//
// The plugin fills every key that is zero, in every way that GORM creates rows, and leaves
// other keys alone. Each statement calls the [KeySource] once, however many rows it has. A
// statement whose context can end waits for ids until then (WaitN). For any other
// statement, the generator's policy decides (NextN).
//
// Of a primary key of several fields, the plugin fills at most one: the field with the tag,
// or else a field of type uid.ID that is named ID. It never fills the foreign key of a
// belongs-to. A model that does not declare one, such as a has-one that shares its owner's
// key, opts out by the tag uid:false.
//
// If the plugin cannot fill a key, the create fails before GORM sends the statement, with
// [ErrKey] or [ErrGenerator]. The error names model and field. A row that the
// database refuses keeps its new key, so a second try cannot insert it twice. Where an upsert
// keeps a row that is there, the struct gets the key of that row before relatives are saved. If
// the plugin cannot find that key, the create fails with [ErrConflict].
//
// # What is covered
//
// The plugin fills structs, slices and arrays of them or of pointers to them, and maps that GORM
// takes with Model(&Order{}). It does so in every call that inserts: CreateInBatches, Save,
// FirstOrCreate, upserts, the generics API, associations and join tables. It adds the key to the
// columns of a Select. A map created with Table("orders") alone has no model, and neither has SQL
// sent with Exec or Raw: the plugin fills no key there.
//
// Keys are filled before the transaction begins, so BeforeCreate sees them. If a hook sets a key
// to zero, the plugin fills it again. A hook that copies its row and creates the copy inserts one
// key twice, unless it sets the copy's key to zero.
//
// A handle has one plugin. [Config] can give some models a generator of their own, such as a
// segment for small numbers:
//
//	uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&Ticket{}}}}}
//
// Except after upserts, the plugin sends no statement of its own.
//
// # Upserts
//
// ON CONFLICT and INSERT IGNORE may keep an existing row in place of the new one. GORM sends
// such statements for relatives, too: with DO NOTHING for belongs-to and many-to-many, with DO
// UPDATE for the rest. The plugin gives the struct or map the key of the row that stands, before
// GORM saves what refers to it:
//
//   - from RETURNING where that returns such rows: with DO UPDATE, and on MariaDB always;
//   - on MySQL from LAST_INSERT_ID, for a single row;
//   - otherwise by two SELECTs, if a row may have been kept: one for the new keys, one for the
//     columns that conflict. These are the columns of OnConflict, or those tagged unique or
//     uniqueIndex; partial indexes and indexes on expressions do not count.
//
// If exactly one such row is not found, the key becomes zero; if relatives would refer to it, the
// create fails with [ErrConflict] before they are saved. Tag the unique columns, or query the row
// first. RowsAffected does not count rows that DO NOTHING kept. A key that you set stays as it
// is, unless RETURNING brings another. Beside the source, testdata/relatives.txt lists every kind
// of relation on every database.
//
// # Migration
//
// AutoMigrate makes a key BIGINT NOT NULL without auto-increment, so the database refuses a row
// that comes without a key. SQLite would store it with NULL or a number of its own, so the plugin
// wraps the Dialector of an SQLite handle, which then declares NOT NULL. Tables that AutoMigrate
// leaves as they are need BIGINT NOT NULL already. Tags for a handle without the plugin:
//
//	ID int64 `gorm:"primaryKey;autoIncrement:false;type:bigint;not null;uid"`
//
// A key column with auto-increment keeps it, which is harmless. Widen a key column that is an
// INT to BIGINT, or inserts fail ("Out of range value", "greater than maximum value for int4").
package uidgorm
