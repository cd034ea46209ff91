// Package uidgorm is a GORM plugin that gives rows their primary keys before they
// are inserted, from a generator of package uid:
//
//	gen, err := uid.NewCached(ctx, worker.NewRegistry(db), uid.Config{})
//	...
//	defer gen.Close()
//	err = db.Use(uidgorm.New(gen))
//	...
//	err = db.Create(&order) // order.ID is set
//
// A key that is set stays. A key that is zero is filled, in whichever way GORM
// creates, with one call of [Generator.NextN] for a statement, however many rows
// it has.
//
// # How a model opts in
//
// By the type of its primary key:
//
//	type Order struct {
//		ID uid.ID // or *uid.ID
//	}
//
// Or by a tag, where the key has to remain an integer of 64 bits of some other
// type:
//
//	type Order struct {
//		ID int64 `gorm:"primaryKey;autoIncrement:false;uid"`
//	}
//
// Of a primary key of several fields, at most one is filled: the one with the tag,
// or else one of type uid.ID that is named ID. A key that is the foreign key
// of a belongs-to is never filled, since its value is the other row's. Where that
// is not declared, as with a has-one that shares the key of its owner, the tag
// uid:false opts out. Models that have not opted in are left as they are.
//
// # What is covered
//
// Structs, slices and arrays of them or of pointers to them, and the maps that
// GORM takes with Model(&Order{}): there the key is put under the name of its
// column, as a value of the field's type. CreateInBatches, Save where it inserts,
// FirstOrCreate, upserts, the generics API, and associations with their join
// tables. Sessions of all kinds: SkipHooks, DryRun, PrepareStmt, transactions. A
// selection of columns gets the key added.
//
// Keys are filled before the transaction begins, so hooks such as BeforeCreate
// find them. A key that a hook takes away is filled again.
//
// GORM knows no model, and so the plugin no key, where a map is created with
// Table("orders") alone, and for SQL that is sent with Exec or Raw.
//
// # What fails
//
// A create that opted in and cannot be filled fails before its statement is sent,
// with an error that names model and field. What associations have inserted by
// then goes with GORM's transaction. The error matches
//
//   - [ErrModel] if the field is no integer of 64 bits, is no primary key, is
//     read-only, or is left to the database by autoIncrement or a default. GORM has
//     an integer count up that is a primary key by itself, or is named ID, unless
//     the tag says autoIncrement:false or the type is uid.ID;
//   - [ErrValue] if there is nowhere to put the key, in a struct that is not
//     addressable (pass a pointer), in a nil map or in a value of another type than
//     the model's, and if the key is omitted;
//   - [ErrGenerator] and the generator's error, such as uid.ErrRingEmpty,
//     uid.ErrBorrowLimit or uid.ErrClosed, if that gives too few ids. All rows of
//     the statement then keep the keys that they had.
//
// When the database refuses a row, it keeps the key that it was given, so that
// trying again cannot insert it twice.
//
// # Upserts
//
// An upsert may find a row that has a key already, and that key stays. With DO
// UPDATE, structs get the key of the row that was found, by RETURNING, which GORM
// has on SQLite, PostgreSQL and MariaDB. With DO NOTHING, and without RETURNING, a
// key that no row has is zero again in memory where the count of affected rows tells:
// for a single row, and if nothing was inserted. It does not tell for a batch of
// which a part was inserted or whose DO UPDATE has a WHERE, for maps that DO UPDATE,
// and where MySQL is asked to count the rows that it found (clientFoundRows). There,
// what was not inserted keeps a key that no row has, and never that of another row.
//
// # Migration
//
// AutoMigrate makes a uid.ID a BIGINT that the database does not count up, on
// SQLite, MySQL and PostgreSQL, and so it does with an integer that has
// autoIncrement:false in its tag. SQLite calls the latter INTEGER, unless the tag
// says type:bigint too. A key column that counts up since before is left so, which is
// harmless: the key is always written.
//
// # Concurrency and cost
//
// A [Plugin] may be used from any number of goroutines, which do not wait for each
// other but in the generator. No further statement is sent. What a create takes
// more is for finding the keys, by reflection.
package uidgorm
