//go:build cgo

package dbtest

// With cgo, SQLite is github.com/mattn/go-sqlite3, which GORM's driver links.
const (
	sqliteDriver = "sqlite3"
	busyOption   = "_busy_timeout"
	busyValue    = "10000" // milliseconds
)
