package worker

import "errors"

var (
	// ErrDB is matched when the *gorm.DB cannot be used: it is nil, is inside a
	// transaction, is in dry-run mode or carries an error. A transaction could roll
	// back the row of a number in use, and the database would give the number again.
	// It is matched too when each connection has an SQLite database of its own, in memory.
	ErrDB = errors.New("worker: unfit *gorm.DB")

	// ErrKey is matched when the database's key cannot be a worker number: the key is
	// below 1, cannot be read back, or belongs to another row; or a Store's table has no key.
	ErrKey = errors.New("worker: no usable key")

	// ErrMixed is matched when two tables could give one number to two processes: a Registry's
	// and Leasers', or two whose names differ in the case of letters only.
	ErrMixed = errors.New("worker: numbers of two tables can be equal")

	// ErrNoTable is matched when Nodes, Leases or Free finds no table.
	ErrNoTable = errors.New("worker: no such table")

	// ErrDialect is matched when the package has no schema for the kind of database.
	ErrDialect = errors.New("worker: no schema for this database")
)
