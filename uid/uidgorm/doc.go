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
// The plugin fills every key that is zero, in every way that GORM creates rows, and
// leaves other keys alone. Each statement calls the [Generator] once, however many
// rows it has. A statement whose context can end waits for ids until the context ends
// (WaitN). For any other statement, the generator's policy decides (NextN).
//
// # How a model opts in
//
// By the type of its primary key:
//
//	type Order struct {
//		ID uid.ID // or *uid.ID, or a struct{ uid.ID }
//	}
//
// Or by a tag, for another integer of 64 bits:
//
//	type Order struct {
//		ID int64 `gorm:"primaryKey;autoIncrement:false;uid"`
//	}
//
// [Reversed] opts in too, on databases that shard by range.
//
// If a primary key has several fields, the plugin fills at most one: the field with the
// tag, or else a field of type uid.ID that is named ID. It never fills the foreign key
// of a belongs-to, which has the other row's value. Some models do not declare that,
// such as a has-one that shares its owner's key: the tag uid:false opts out.
//
// # What fails
//
// If the plugin cannot fill the key of a model that opted in, the create fails before
// GORM sends the statement. The error names model and field. GORM's transaction then
// rolls back what associations have inserted. The error matches
//
//   - [ErrModel] if the field is not an integer of 64 bits, is not a primary key, is
//     read-only, or gets its value from the database by autoIncrement or a default.
//     GORM makes an integer auto-increment that is the only primary key, or is named
//     ID, unless the tag says autoIncrement:false or the type is uid.ID;
//   - [ErrValue] if the key cannot be stored: the struct is not addressable (pass a
//     pointer), the map is nil, the value is not of the model's type, or Omit names the
//     key;
//   - [ErrGenerator] and the generator's error, such as uid.ErrNotReady,
//     uid.ErrBorrowLimit or uid.ErrClosed, if the generator returns too few ids. All
//     rows of the statement then keep their keys.
//
// A row that the database refuses keeps its new key, so a second try cannot insert it
// twice.
//
// # More
//
// An upsert that finds a row keeps the key of the row. AutoMigrate makes a uid.ID a BIGINT
// without auto-increment. [README.md] lists the ways of creating rows that are covered, upserts by
// database, several generators for one handle ([Config].Keys), and the cost.
//
// [README.md]: https://github.com/uidring/uidring/blob/main/uid/uidgorm/README.md
package uidgorm
