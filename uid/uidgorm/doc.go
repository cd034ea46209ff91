// Package uidgorm is a GORM plugin that fills the primary keys of new rows with ids
// from a generator of package uid, before they are inserted:
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db, worker.RegistryConfig{}), uid.CachedConfig{})
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
// the plugin cannot find that key, the create fails with [ErrConflict]. [README.md] has the rest.
//
// [README.md]: https://github.com/uidring/uidring/blob/main/uid/uidgorm/README.md
package uidgorm
