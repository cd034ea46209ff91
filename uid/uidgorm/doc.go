// Package uidgorm is a GORM plugin that fills the primary keys of new rows with ids from a
// generator of package uid, before the rows are inserted:
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	err = db.Use(uidgorm.New(gen, uidgorm.Config{}))
//	...
//	err = db.Create(&order) // order.ID is set
//
// A model opts in through the type of its primary key or, for any other 64-bit integer, a tag:
//
//	ID uid.ID // or *uid.ID, a struct{ uid.ID }, or Reversed
//	ID int64 `gorm:"primaryKey;autoIncrement:false;uid"`
//
// The plugin fills every key that is zero, whichever way GORM creates the row, and leaves other
// keys alone. Each statement calls the [KeySource] once, however many rows it has. If the
// statement's context can be canceled, the plugin waits for ids until the context is done (WaitN).
// Otherwise the generator's policy decides (NextN).
//
// In a composite primary key, the plugin fills at most one field: the one with the tag, or else a
// field named ID of type uid.ID. It never fills the foreign key of a belongs-to. A model that
// shares a key without declaring a belongs-to, such as a has-one with its owner's key, opts out
// with the tag uid:false.
//
// If the plugin cannot fill a key, the create fails before GORM sends the statement, with
// [ErrKey] or [ErrGenerator]. The error names the model and the field. A row that the database
// rejects keeps its new key, so a retry cannot insert it twice. If an upsert keeps an existing
// row, the struct gets that row's key before related rows are saved. If the plugin cannot find
// that key, the create fails with [ErrConflict].
//
// # What is covered
//
// The plugin fills structs, slices and arrays of structs or of pointers to them, and maps passed
// with Model(&Order{}). It does so in every call that inserts: CreateInBatches, Save,
// FirstOrCreate, upserts, the generics API, associations and join tables. It adds the key to the
// columns of a Select. It cannot fill keys where there is no model: in a map created with
// Table("orders") alone, and in SQL sent with Exec or Raw.
//
// Keys are filled before the transaction begins, so BeforeCreate sees them. If a hook sets a key
// to zero, the plugin fills it again. A hook that creates a copy of its row must set the copy's
// key to zero, or the key is inserted twice.
//
// A handle takes one Plugin, whose [Config] can give some models another generator, such as a
// segment for small numbers:
//
//	uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&Ticket{}}}}}
//
// The plugin sends extra statements only after upserts.
//
// # Upserts
//
// ON CONFLICT and INSERT IGNORE may keep an existing row instead of the new one. GORM sends such
// statements for related rows, too: with DO NOTHING for belongs-to and many-to-many, with DO
// UPDATE for the rest. The plugin gives the struct or map the key of the row that remains, before
// GORM saves rows that refer to it:
//
//   - from RETURNING where it returns that row: with DO UPDATE, and always on MariaDB;
//   - on MySQL from LAST_INSERT_ID, for a single row;
//   - otherwise by two SELECTs, if a row may have been kept: one by the new keys, one by the
//     conflicting columns. These are the columns of OnConflict, or those tagged unique or
//     uniqueIndex; partial indexes and indexes on expressions do not count.
//
// If the plugin finds no such row, or several, the key becomes zero; if related rows would refer
// to it, the create fails with [ErrConflict] before they are saved. To avoid this, tag the unique
// columns, or query the row first. RowsAffected does not count rows that DO NOTHING kept. A key
// that you set stays as it is, unless RETURNING returns another. testdata/relatives.txt, beside
// the source, lists every kind of relation on every database.
//
// # Migration
//
// AutoMigrate makes a key BIGINT NOT NULL without auto-increment, so the database rejects a row
// without a key. SQLite would store such a row under NULL or its own number, so on SQLite the
// plugin wraps the handle's Dialector to declare NOT NULL. AutoMigrate does not change existing
// tables: they need BIGINT NOT NULL already. To migrate through a handle without the plugin, use
// these tags:
//
//	ID int64 `gorm:"primaryKey;autoIncrement:false;type:bigint;not null;uid"`
//
// An existing key column keeps its auto-increment, which is harmless. Widen an INT key column to
// BIGINT, or inserts fail ("Out of range value", "greater than maximum value for int4").
package uidgorm
