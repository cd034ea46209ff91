package database

import (
	"database/sql"
	"net/url"
	"strings"

	"github.com/xo/dburl"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
)

// openSQLite opens the file u.Opaque. The driver gets an SQLite URI (file:…),
// the only form in which a path may hold a question mark. An option that the
// URL sets itself wins over ours.
func openSQLite(u *dburl.URL) (*sql.DB, gorm.Dialector, error) {
	options := u.Query()
	if !options.Has("_txlock") {
		options.Set("_txlock", "immediate")
	}
	if !options.Has("_busy_timeout") && !strings.Contains(strings.Join(options["_pragma"], " "), "busy_timeout") {
		options.Add(busyOption, busyValue)
	}

	path := u.Opaque
	if strings.HasPrefix(path, "//") { // else SQLite takes the first name for a host
		path = "/" + strings.TrimLeft(path, "/")
	}
	file := url.URL{Path: path}
	pool, err := sql.Open(driverName, "file:"+file.EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, nil, err
	}
	if path == ":memory:" || options.Get("mode") == "memory" {
		// Each connection would have an empty database of its own.
		pool.SetMaxOpenConns(1)
	}
	return pool, sqlite.New(sqlite.Config{DriverName: driverName, Conn: pool}), nil
}
