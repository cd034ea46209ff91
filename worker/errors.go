package worker

import "errors"

var (
	// ErrDB is matched when the *gorm.DB cannot be used: it is nil, is inside a
	// transaction, is in dry-run mode or carries an error. Inside a transaction a
	// number could be used and its row rolled back later, which would let the
	// database give it again.
	ErrDB = errors.New("worker: unfit *gorm.DB")

	// ErrKey is matched when the database's key is no worker number: it was not
	// read back, is below 1, or its row is not the inserted one.
	ErrKey = errors.New("worker: no usable key")

	// ErrNoTable is matched by the error of a list, and of Free, when the table is
	// missing: no worker has taken a number there yet.
	ErrNoTable = errors.New("worker: no such table")

	// ErrDialect is matched when the package has no schema for the kind of
	// database.
	ErrDialect = errors.New("worker: no schema for this database")
)
