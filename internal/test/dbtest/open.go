package dbtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/internal/sqlitefile"
)

// Open opens a database by its driver's own DSN: PostgreSQL by postgres://…, MySQL
// by user@tcp(host:port)/name, and SQLite by the path of a file, with or without
// options after a question mark. GORM's logger is silent, and times are in UTC.
//
// SQLite waits up to ten seconds for another writer and takes the write lock at the
// start of a transaction, unless the options say otherwise.
//
// A handle has at most four connections, so that all tests that run at the same time
// find enough.
func Open(dsn string) (*gorm.DB, error) {
	pool, dialector, err := connect(dsn)
	if err != nil {
		return nil, err
	}
	if pool.Stats().MaxOpenConnections == 0 {
		pool.SetMaxOpenConns(4)
	}
	pool.SetMaxIdleConns(1)
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// Answers returns an error unless the database answers.
func Answers(dsn string) error {
	db, err := Open(dsn)
	return errors.Join(err, Close(db))
}

// Close closes the connections of a handle from Open. For nil it does nothing.
func Close(db *gorm.DB) error {
	if db == nil {
		return nil
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	return pool.Close()
}

func connect(dsn string) (*sql.DB, gorm.Dialector, error) {
	switch {
	case strings.HasPrefix(dsn, "postgres"):
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, nil, err
		}
		pool := sql.OpenDB(patient{stdlib.GetConnector(*config)})
		return pool, postgres.New(postgres.Config{Conn: pool}), nil
	case strings.Contains(dsn, ")/"):
		return connectMySQL(dsn)
	default:
		return openSQLite(dsn)
	}
}

// patient retries, for a minute or until its context ends, while the server has no
// connection left because tests of other packages hold them.
type patient struct{ driver.Connector }

func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	return backoff.Retry(ctx, func() (driver.Conn, error) {
		conn, err := p.Connector.Connect(ctx)
		if err != nil && !full(err) {
			err = backoff.Permanent(err)
		}
		return conn, err
	}, backoff.WithMaxElapsedTime(time.Minute))
}

// full reports whether a connection failed because the server has no connection left.
func full(err error) bool {
	var pg interface{ SQLState() string }
	var my *mysqldriver.MySQLError
	return errors.As(err, &pg) && pg.SQLState() == "53300" || errors.As(err, &my) && my.Number == 1040
}

func connectMySQL(dsn string) (*sql.DB, gorm.Dialector, error) {
	config, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		return nil, nil, err
	}
	config.ParseTime, config.Loc, config.Logger = true, time.UTC, &mysqldriver.NopLogger{}
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
	pool := sql.OpenDB(patient{connector})
	return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: config}), nil
}

func openSQLite(dsn string) (*sql.DB, gorm.Dialector, error) {
	path, query, _ := strings.Cut(dsn, "?")
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, nil, err
	}
	pool, dialector, err := sqlitefile.Open(path, options)
	if err != nil {
		return nil, nil, err
	}
	if path == ":memory:" { // each connection would have an empty database of its own
		pool.SetMaxOpenConns(1)
	}
	return pool, dialector, nil
}
