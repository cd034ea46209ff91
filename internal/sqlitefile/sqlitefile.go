// Package sqlitefile opens SQLite files for the commands and the tests.
package sqlitefile

import (
	"database/sql"
	"net/url"
	"strings"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
)

// Open opens the file at a path, taken literally. SQLite waits up to ten seconds for
// another writer, and takes the write lock when a transaction begins. So several
// processes can start on one file at once. The driver's options win over that.
func Open(path string, options url.Values) (*sql.DB, gorm.Dialector, error) {
	if !options.Has("_txlock") {
		options.Set("_txlock", "immediate")
	}
	if !options.Has("_busy_timeout") && !strings.Contains(strings.Join(options["_pragma"], " "), "busy_timeout") {
		options.Add(busyOption, busyValue)
	}
	// The driver gets a URI, the only form in which a path may hold a question mark.
	uri := url.URL{Path: path}
	if strings.HasPrefix(path, "//") { // else SQLite takes the first name for a host
		uri.Path = "/" + strings.TrimLeft(path, "/")
	}
	pool, err := sql.Open(driver, "file:"+uri.EscapedPath()+"?"+options.Encode())
	return pool, sqlite.New(sqlite.Config{DriverName: driver, Conn: pool}), err
}
