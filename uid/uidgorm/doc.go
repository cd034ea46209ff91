// Package uidgorm is a GORM plugin that fills the primary keys of new rows with ids
// from a generator of package uid, before they are inserted:
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{})
//	...
//	defer gen.Close()
//	err = db.Use(uidgorm.New(gen))
//	...
//	err = db.Create(&order) // order.ID is set
//
// A key that is set stays. A key that is zero is filled, in every way that GORM
// creates. Each statement makes one call of the [Generator], however many rows
// it has. A statement with a context that can end waits for ids until then
// (WaitN). Without such a context, the generator's policy decides (NextN).
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
// Of a primary key of several fields, at most one is filled: the field with the tag,
// or else a field of type uid.ID that is named ID. A key that is the foreign key of a
// belongs-to is never filled, since its value is the other row's. Where the model does
// not declare that, as in a has-one that shares its owner's key, the tag uid:false
// opts out. Models that have not opted in are left as they are.
//
// # What is covered
//
// Structs, slices and arrays of them or of pointers to them, and the maps that GORM
// takes with Model(&Order{}): there the key is put under the name of its column, as a
// value of the field's type. CreateInBatches, Save where it inserts, FirstOrCreate,
// upserts, the generics API, and associations with their join tables. Sessions of all
// kinds: SkipHooks, DryRun, PrepareStmt, transactions. If columns are selected, the key
// is added to them.
//
// Keys are filled before the transaction begins, so hooks such as BeforeCreate see
// them. A key that a hook sets to zero is filled again.
//
// GORM knows no model for a map created with Table("orders") alone, nor for SQL sent
// with Exec or Raw. The plugin fills no key there.
//
// # What fails
//
// A create that opted in and cannot be filled fails before its statement is sent, with
// an error that names model and field. GORM's transaction then rolls back what
// associations have inserted. The error matches
//
//   - [ErrModel] if the field is no integer of 64 bits, is no primary key, is
//     read-only, or is left to the database by autoIncrement or a default. GORM lets
//     the database count up an integer that is the only primary key, or is named ID,
//     unless the tag says autoIncrement:false or the type is uid.ID;
//   - [ErrValue] if the key cannot be stored: the struct is not addressable (pass a
//     pointer), the map is nil, the value is not of the model's type, or the key is
//     omitted;
//   - [ErrGenerator] and the generator's error, such as uid.ErrRingEmpty,
//     uid.ErrBorrowLimit or uid.ErrClosed, if the generator returns too few ids. All
//     rows of the statement then keep the keys that they had.
//
// A row that the database refuses keeps the key that it was given, so a second try
// cannot insert it twice.
//
// # Upserts
//
// An upsert may find a row that has a key already, and that key stays. With DO
// UPDATE, structs get the key of the row found, by RETURNING, which GORM has on
// SQLite, PostgreSQL and MariaDB. With DO NOTHING, and without RETURNING, a key
// that no row has becomes zero again in memory if the count of affected rows
// shows it: for a single row, and if nothing was inserted. In other cases, rows
// that were not inserted keep a key that no row has, never a key of another
// row. Such cases are a batch that was inserted in part, a DO UPDATE with a
// WHERE or of maps, and MySQL with clientFoundRows.
//
// # Migration
//
// AutoMigrate makes a uid.ID a BIGINT that the database does not count up, on SQLite,
// MySQL and PostgreSQL. An integer with autoIncrement:false becomes the same, but
// SQLite calls it INTEGER unless the tag says type:bigint. A key column that already
// counts up stays so. That is harmless: the key is always written.
//
// # Concurrency and cost
//
// Any number of goroutines may use a [Plugin]. They do not block each other, except in
// the generator. The plugin sends no statement of its own. Its only overhead is
// reflection.
package uidgorm
