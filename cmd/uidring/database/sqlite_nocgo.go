//go:build !cgo

package database

import _ "modernc.org/sqlite" // registers "sqlite"

// Without cgo, SQLite is modernc.org/sqlite, the same library in Go.
const (
	driverName = "sqlite"
	busyOption = "_pragma"
	busyValue  = "busy_timeout(10000)" // milliseconds
)
