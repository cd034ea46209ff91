// Package database opens the database that a command works with. It is the only
// package that links SQL drivers.
//
// A DSN is a URL (sqlite:, file:, mysql:, mariadb:, postgres:), a form of GORM's drivers, or the
// path of an SQLite file. A path without one of SQLite's endings must be an existing SQLite
// file, so that a mistyped DSN of a server does not become a file.
package database

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqlitefile"
)

// accepted is what an error tells the reader to write.
const accepted = "an SQLite file such as app.db, sqlite:PATH, mysql://user@host:3306/name or postgres://user@host:5432/name"

// patience is how long a server has to accept the first connection by default.
const patience = 10 * time.Second

// target is what parse read from a DSN.
type target struct {
	name    string // as messages show it: without password and options
	file    string // path of an SQLite file
	timeout time.Duration
	open    func() (*sql.DB, gorm.Dialector, error)
}

var (
	// A scheme has two letters or more, so that C:\app.db is a path.
	schemePattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]+://`)
	// The drivers' own forms. parse tries them before paths, since they can have a password.
	mysqlPattern    = regexp.MustCompile(`(^|@)(tcp|unix)\(.*\)/|^[^/]*@/`)
	postgresPattern = regexp.MustCompile(`(?i)(^|\s)(host|hostaddr|port|user|dbname|password|service|sslmode)\s*=`)
	// A plain word can be shown. Anything else may hold a password.
	plainPattern = regexp.MustCompile(`^[\w./\\-]*(:\d*)?$`)
)

// parse reads a DSN. Its errors never show a part that may be a password.
func parse(dsn string) (*target, error) {
	scheme, rest, colon := strings.Cut(dsn, ":")
	scheme = strings.ToLower(scheme)
	server := schemePattern.MatchString(dsn)
	switch {
	case dsn == "":
		return nil, errors.New("it is empty; want " + accepted)
	case colon && slices.Contains([]string{"sqlite", "sqlite3", "file"}, scheme):
		return sqliteURL(rest)
	case server && (scheme == "mysql" || scheme == "mariadb"):
		return mysqlURL(dsn)
	case server && (scheme == "postgres" || scheme == "postgresql"):
		return postgresURL(dsn)
	case server && KindOf(dsn) != SQL:
		return nil, fmt.Errorf("%s:// names a store for uidringd, which has gen, parse, layout, workers and, if it is Redis, segments too "+
			"(go install github.com/uidring/uidring/cmd/uidringd@latest); here want %s", scheme, accepted)
	case server:
		return nil, fmt.Errorf("unknown scheme %q; want %s; uidringd takes etcd, redis, zk and kube URLs too", dsn[:len(scheme)], accepted)
	case dsn == ":memory:":
		return sqliteFile(dsn, url.Values{})
	case mysqlPattern.MatchString(dsn):
		return mysqlDSN(dsn)
	case postgresPattern.MatchString(dsn):
		return postgresDSN(dsn)
	case isSQLitePath(dsn):
		return sqliteFile(dsn, url.Values{})
	case plainPattern.MatchString(dsn):
		return nil, fmt.Errorf("%q is not an SQLite file, and does not end in .db; want %s", dsn, accepted)
	}
	return nil, errors.New("it is neither an SQLite file nor the URL of a database; want " + accepted)
}

// ErrEncoding is the error for a URL that has a special character as it stands. It shows no part of the URL.
var ErrEncoding = errors.New("the URL does not parse: special characters in a user name, password or option must be percent-encoded")

// CheckEncoding returns ErrEncoding if a URL has an @ after the first /, ? or # of what follows the scheme. Those
// characters are then a part of the password, and a parser would take another part of the password for the host.
func CheckEncoding(text string) error {
	_, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 && strings.Contains(rest[end:], "@") {
		return ErrEncoding
	}
	return nil
}

// sqliteURL reads what follows sqlite: or file:.
func sqliteURL(rest string) (*target, error) {
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
	return sqliteFile(path, options)
}

// sqliteFile is the file at a path, taken literally.
func sqliteFile(path string, options url.Values) (*target, error) {
	if path == ":memory:" || options.Get("mode") == "memory" {
		return nil, errors.New("an in-memory database is visible only to this process; want a file such as app.db, or a server")
	}
	shown, err := filepath.Abs(path)
	if err != nil {
		shown = path
	}
	return &target{
		name:    "SQLite file " + strconv.Quote(shown),
		file:    path,
		timeout: 2 * patience, // more than SQLite waits by itself
		open:    func() (*sql.DB, gorm.Dialector, error) { return sqlitefile.Open(path, options) },
	}, nil
}

// isSQLitePath reports whether a path is an SQLite file, or has the name of one.
func isSQLitePath(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if file, err := os.Open(path); err == nil {
			defer file.Close()
			if isSQLite(file) {
				return true
			}
		}
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".db", ".db3", ".sqlite", ".sqlite3":
		return !strings.ContainsAny(path, "@=") // which can be a DSN with a password
	}
	return false
}

func isSQLite(file io.Reader) bool {
	header := []byte("SQLite format 3\x00")
	start := make([]byte, len(header))
	_, err := io.ReadFull(file, start)
	return err == nil && bytes.Equal(start, header)
}
