//go:build !cgo

package dbtest

import _ "modernc.org/sqlite" // registers "sqlite"

// Without cgo, SQLite is modernc.org/sqlite, the same library in Go.
const (
	sqliteDriver = "sqlite"
	busyOption   = "_pragma"
	busyValue    = "busy_timeout(10000)" // milliseconds
)
