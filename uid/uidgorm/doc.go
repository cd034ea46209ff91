// Package uidgorm provides a GORM plugin that fills the primary keys of new rows with ids from a
// generator of package uid, before the rows are inserted:
//
//	gen, err := uid.NewCached(ctx, worker.NewLeaser(db, lease.Config{}), uid.CachedConfig{})
//	...
//	defer gen.Close()
//	err = db.Use(uidgorm.New(gen, uidgorm.Config{}))
//	...
//	err = db.Create(&order).Error // order.ID is set
//
// A model opts in by the type of its primary key or, for other 64-bit integer keys, by a tag:
//
//	ID uid.ID // or *uid.ID, a struct{ uid.ID }, or Reversed
//	ID int64 `gorm:"primaryKey;autoIncrement:false;uid"`
//
// The tag also fills a column beside the key, which a database that is [migrated] needs for a while:
//
//	ID  int64  // from the database, as before
//	UID uid.ID `gorm:"uid;<-:create"`
//
// Such a column may be NULL in older rows, which are then read as 0. With <-:create, nothing that
// updates a row changes its id: neither Save nor an upsert.
//
// Whenever GORM inserts rows of a model, the plugin fills every key that is zero, and leaves other
// keys alone. For each statement, it calls the [KeySource] once, however many rows there are, and
// again only if a hook sets a key to zero. If the statement's context can be canceled, the plugin
// waits for ids until the context is done (WaitN). Otherwise it calls NextN, and the generator's
// policy decides whether the call waits or fails.
//
// In a composite primary key, the plugin fills at most one field: the one with the tag or, if there
// is none, the field named ID, if it has one of the types above. It never fills the foreign key of
// a belongs-to relation. If a model's primary key is also the foreign key to its owner, as in some
// has-one relations, the model must declare a belongs-to relation to the owner or opt out with the
// tag uid:false.
//
// If the plugin cannot fill a key, the create fails with [ErrKey] or [ErrGenerator] before GORM
// sends the statement. The error names the model and the field. A row that the database rejects
// keeps its new key, so a retry cannot insert it twice. If an upsert keeps an existing row, the
// struct gets that row's key before related rows are saved. If the plugin cannot find that key,
// and related rows would refer to it, the create fails with [ErrConflict].
//
// # What is covered
//
// The plugin fills structs, slices and arrays of structs or of pointers to them, and maps passed
// with Model(&Order{}). It does so in every call that inserts: CreateInBatches, Save,
// FirstOrCreate, upserts, the generics API, associations and join tables, and in every kind of
// session: transactions, SkipHooks, PrepareStmt and DryRun. If the call has a Select, the plugin
// adds the key to its columns. It cannot fill keys where there is no model: in a map passed with
// Table("orders") alone, and in SQL sent with Exec or Raw.
//
// Keys are filled before the transaction begins, so BeforeCreate sees them. If a hook sets a key
// to zero, the plugin fills it again. A hook that creates a copy of its row must set the copy's
// key to zero, or the key is inserted twice.
//
// A *gorm.DB takes one Plugin, but the Plugin's [Config] can assign another generator to some
// models, such as a segment generator to models that need small ids:
//
//	uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&Ticket{}}}}}
//
// The plugin sends extra statements only after upserts.
//
// # Upserts
//
// ON CONFLICT and INSERT IGNORE may keep an existing row instead of the new one. GORM sends such
// statements for related rows, too: with DO NOTHING for belongs-to and many-to-many, with DO UPDATE
// for the rest. The plugin gives the struct or map the key of the row that remains, before GORM
// saves rows that refer to it. It gets that key:
//
//   - from RETURNING, where the database returns the row: after DO UPDATE and, on MariaDB 10.5 or
//     later, DO NOTHING;
//   - on MySQL from LAST_INSERT_ID, for a single row with clause.OnConflict;
//   - otherwise, if a row may have been kept, from two SELECTs, one by the new keys and one by
//     the conflicting columns: those in OnConflict, or those tagged unique or uniqueIndex;
//     partial and expression indexes do not count.
//
// If the plugin finds no such row, or several, the key becomes zero; if related rows would refer to
// it, the create fails with [ErrConflict] before they are saved. To avoid this, tag the unique
// columns, or query the row first. RowsAffected does not count rows that DO NOTHING kept. A key
// that you set stays as it is, unless RETURNING returns another. testdata/relatives.txt, in the
// package's directory, shows the outcome for every kind of relation on every database.
//
// # Migration
//
// AutoMigrate makes a key BIGINT NOT NULL without auto-increment, so the database rejects a row
// without a key. A handle without the plugin, or another library, does send a key: it inserts the
// zero of a new struct as 0. The tag check has the database reject that, too:
//
//	ID uid.ID `gorm:"check:id <> 0"`
//
// SQLite would store such a row, with NULL or a number of its own choosing as the
// key, so on SQLite the plugin wraps the handle's Dialector to declare the column NOT NULL.
// AutoMigrate does not change the key columns of existing tables: they must already be BIGINT NOT
// NULL. To migrate through a handle without the plugin, use these tags:
//
//	ID int64 `gorm:"primaryKey;autoIncrement:false;type:bigint;not null;uid"`
//
// An existing key column keeps its auto-increment, which is harmless. Widen an INT key column to
// BIGINT, or inserts fail ("Out of range value", "greater than maximum value for int4").
//
// [migrated]: https://github.com/uidring/uidring/blob/main/docs/migrating.md#a-live-table
package uidgorm
