package worker

import "errors"

var (
	// ErrDB means that the *gorm.DB cannot be used: it is nil, is in a transaction or dry-run mode,
	// carries an error, or has a separate in-memory SQLite database per connection. A transaction
	// could roll back the row of a number in use, and the database would give the number out again.
	ErrDB = errors.New("worker: unfit *gorm.DB")

	// ErrKey means that a Store's table has no key, or that the database's key cannot be a worker
	// number: it is below 1, cannot be read back, or belongs to another row.
	ErrKey = errors.New("worker: no usable key")

	// ErrMixed means that two tables could give one number to two processes: a Registry's and the
	// Leasers', or two whose names differ only in case.
	ErrMixed = errors.New("worker: numbers of two tables can be equal")

	// ErrNoTable means that Nodes, Leases or Free found no table.
	ErrNoTable = errors.New("worker: no such table")

	// ErrDialect means that the package has no schema for this kind of database.
	ErrDialect = errors.New("worker: no schema for this database")
)
