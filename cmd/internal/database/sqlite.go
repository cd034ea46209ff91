package database

import (
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqlitefile"
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

// sqliteFile is the file at a path, taken literally.
func sqliteFile(path string, options url.Values) *target {
	shown, err := filepath.Abs(path)
	if err != nil {
		shown = path
	}
	return &target{
		name:    "SQLite file " + strconv.Quote(shown),
		file:    path,
		memory:  path == ":memory:" || options.Get("mode") == "memory",
		timeout: 2 * patience, // more than SQLite waits by itself
		open:    func() (*sql.DB, gorm.Dialector, error) { return sqlitefile.Open(path, options) },
	}
}
