// Package database opens the databases that uidring is used and tested with
// from a URL. It is the one place in the module that knows SQL drivers: only
// cmd/ and tests import it, and a linter holds that, so that a service which
// links uid or worker gets no driver that it did not choose itself.
//
// URLs are parsed by github.com/xo/dburl. These are understood:
//
//	app.db, ./data/app.db             no scheme: the path of an SQLite file, taken as it stands
//	sqlite:app.db, sqlite:/abs/x.db   an SQLite file; %, ?, # and blanks are percent-encoded
//	sqlite::memory:                   SQLite in memory, gone when the handle is closed
//	mysql://user:pass@host:3306/db    MySQL; mariadb: is the same
//	postgres://user:pass@host/db      PostgreSQL; postgresql: and pgx: are the same
//
// Options after a question mark are the driver's own (sqlite's are those of
// the driver at hand: github.com/mattn/go-sqlite3 with cgo and
// modernc.org/sqlite without).
package database

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/xo/dburl"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// ErrURL is matched by every error of Open that is the URL's fault, found
// before a database was asked.
var ErrURL = errors.New("database: bad URL")

// ErrNoFile is matched by the error of OpenExisting for an SQLite file that is not
// there.
var ErrNoFile = errors.New("database: no such SQLite file")

// accepted is what an error about a scheme tells the reader to write.
const accepted = "sqlite:, mysql:, mariadb:, postgres:, postgresql:, pgx: or the path of an SQLite file"

// backends says, by scheme, which of dburl's schemes reads the URL and which
// function opens it.
var backends = map[string]struct {
	scheme string
	open   func(*dburl.URL) (*sql.DB, gorm.Dialector, error)
}{
	"sqlite":     {"sqlite", openSQLite},
	"sqlite3":    {"sqlite", openSQLite},
	"mysql":      {"mysql", openMySQL},
	"mariadb":    {"mysql", openMySQL},
	"postgres":   {"postgres", openPostgres},
	"postgresql": {"postgres", openPostgres},
	"pgx":        {"postgres", openPostgres},
}

// A scheme has two letters or more, so that C:\app.db is a path.
var schemePattern = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9.-]+)(\+[a-zA-Z]+)?:`)

// Open connects to the database that the URL names; the package comment lists
// what a URL may be. GORM's own logger is silent, since every error is
// returned, and errors are the driver's own (TranslateError is off). The
// handle is safe for concurrent use; end it with Close.
//
// SQLite waits up to ten seconds for another writer (also when the context of
// a statement ends meanwhile) and takes the write lock at the start of a
// transaction, so that several processes can start on one file at once; the
// file's journal mode is left as it is. MySQL speaks UTC:
// times are parsed, and the session's time zone is UTC unless the URL's
// time_zone says otherwise.
//
// Errors name the URL without its password and options. They match ErrURL
// when the URL is at fault, and wrap the driver's error otherwise.
func Open(rawURL string) (*gorm.DB, error) {
	u, open, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	return connect(u, open)
}

// OpenExisting is Open for a database that is there already. The error for an
// SQLite file that is not matches ErrNoFile, and none is created.
func OpenExisting(rawURL string) (*gorm.DB, error) {
	u, open, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if u.Opaque != "" { // the path of an SQLite file
		if _, err := os.Stat(u.Opaque); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoFile, err)
		}
	}
	return connect(u, open)
}

func connect(u *dburl.URL, open func(*dburl.URL) (*sql.DB, gorm.Dialector, error)) (*gorm.DB, error) {
	pool, dialector, err := open(u)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrURL, where(u), err)
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, fmt.Errorf("database: open %s: %w", where(u), errors.Join(err, pool.Close()))
	}
	return db, nil
}

// Close closes the connections of a handle from Open. A nil handle is left be.
func Close(db *gorm.DB) error {
	if db == nil {
		return nil
	}
	pool, err := db.DB()
	if err != nil {
		return fmt.Errorf("database: close: %w", err)
	}
	return pool.Close()
}

// parse finds the backend and has dburl read the URL. A parser's own words are
// kept out of errors: they quote the piece that they stumbled over, and in a
// URL whose password was not percent-encoded that piece is the password.
func parse(rawURL string) (*dburl.URL, func(*dburl.URL) (*sql.DB, gorm.Dialector, error), error) {
	if rawURL == "" {
		return nil, nil, fmt.Errorf("%w: it is empty; want %s", ErrURL, accepted)
	}
	match := schemePattern.FindStringSubmatch(rawURL)
	if match == nil {
		return &dburl.URL{URL: url.URL{Scheme: "sqlite", Opaque: rawURL}}, openSQLite, nil
	}
	backend, ok := backends[strings.ToLower(match[1])]
	if !ok {
		return nil, nil, fmt.Errorf("%w: unknown scheme %q; want %s", ErrURL, match[1], accepted)
	}
	rest := rawURL[len(match[0]):]
	u, err := dburl.Parse(backend.scheme + match[2] + ":" + rest)
	if err != nil {
		var known dburl.Error
		if errors.As(err, &known) {
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrURL, backend.scheme, known)
		}
		return nil, nil, fmt.Errorf("%w: %s: it does not parse; special characters in a user name, "+
			"a password or a path must be percent-encoded", ErrURL, backend.scheme)
	}
	if u.Fragment != "" {
		return nil, nil, fmt.Errorf("%w: %s: a # must be written %%23", ErrURL, backend.scheme)
	}
	// dburl decodes /a%20b.db but leaves a%20b.db alone.
	if backend.scheme == "sqlite" && !strings.HasPrefix(rest, "/") {
		if u.Opaque, err = url.PathUnescape(u.Opaque); err != nil {
			return nil, nil, fmt.Errorf("%w: sqlite: a %% in a path must be written %%25", ErrURL)
		}
	}
	return u, backend.open, nil
}

// where is the URL as an error may show it: no password, and no options, since
// PostgreSQL takes a password there too.
func where(u *dburl.URL) string {
	if u.Opaque != "" {
		return u.Scheme + ":" + u.Opaque
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}

func openMySQL(u *dburl.URL) (*sql.DB, gorm.Dialector, error) {
	config, err := mysqldriver.ParseDSN(u.DSN)
	if err != nil {
		return nil, nil, err
	}
	config.ParseTime, config.Loc = true, time.UTC
	config.Logger = &mysqldriver.NopLogger{}
	if _, set := config.Params["time_zone"]; !set {
		if config.Params == nil {
			config.Params = map[string]string{}
		}
		config.Params["time_zone"] = "'+00:00'"
	}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, nil, err
	}
	pool := sql.OpenDB(connector)
	return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: config}), nil
}

func openPostgres(u *dburl.URL) (*sql.DB, gorm.Dialector, error) {
	config, err := pgx.ParseConfig(u.DSN)
	if err != nil {
		// pgx's message repeats the connection string and hides only passwords
		// without quotes in them; the cause alone does not.
		if cause := errors.Unwrap(err); cause != nil {
			return nil, nil, cause
		}
		return nil, nil, errors.New("a value or an option is not one that pgx accepts")
	}
	pool := stdlib.OpenDB(*config)
	return pool, postgres.New(postgres.Config{Conn: pool}), nil
}
