//go:build cgo

package sqlitefile

// With cgo, SQLite is github.com/mattn/go-sqlite3, which GORM's driver links.
const (
	driver     = "sqlite3"
	busyOption = "_busy_timeout"
	busyValue  = "10000" // milliseconds
)
