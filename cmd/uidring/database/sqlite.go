package database

import (
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
)

// sqliteURL reads what follows sqlite: or file:.
func sqliteURL(_, rest string) (*target, error) {
	path, query, _ := strings.Cut(rest, "?")
	path, err := url.PathUnescape(strings.TrimPrefix(path, "//"))
	if err != nil {
		return nil, errors.New("a % in a path must be written %25")
	}
	options, err := url.ParseQuery(query)
	switch {
	case strings.Contains(rest, "#"):
		return nil, errors.New("a # must be written %23")
	case err != nil:
		return nil, errors.New("the options after the ? do not parse")
	case path == "":
		return nil, errors.New("the path is missing; want " + accepted)
	}
	return sqliteFile(path, options), nil
}

// sqliteFile is the file at a path, taken literally. SQLite waits up to ten
// seconds for another writer, and takes the write lock when a transaction
// begins. So several processes can start on one file at once. Options win over
// that.
func sqliteFile(path string, options url.Values) *target {
	if !options.Has("_txlock") {
		options.Set("_txlock", "immediate")
	}
	if !options.Has("_busy_timeout") && !strings.Contains(strings.Join(options["_pragma"], " "), "busy_timeout") {
		options.Add(busyOption, busyValue)
	}
	shown, err := filepath.Abs(path)
	if err != nil {
		shown = path
	}
	t := &target{
		name:    "SQLite file " + strconv.Quote(shown),
		file:    path,
		memory:  path == ":memory:" || options.Get("mode") == "memory",
		timeout: 2 * patience, // more than SQLite waits by itself
	}
	t.open = func() (*sql.DB, gorm.Dialector, error) {
		// The driver gets a URI, the only form in which a path may hold a question mark.
		uri := url.URL{Path: path}
		if strings.HasPrefix(path, "//") { // else SQLite takes the first name for a host
			uri.Path = "/" + strings.TrimLeft(path, "/")
		}
		pool, err := sql.Open(driverName, "file:"+uri.EscapedPath()+"?"+options.Encode())
		return pool, sqlite.New(sqlite.Config{DriverName: driverName, Conn: pool}), err
	}
	return t
}
