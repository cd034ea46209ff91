//go:build !cgo

package sqlitefile

import _ "modernc.org/sqlite" // registers "sqlite"

// Without cgo, SQLite is modernc.org/sqlite, the same library in Go.
const (
	driver     = "sqlite"
	busyOption = "_pragma"
	busyValue  = "busy_timeout(10000)" // milliseconds
)
