package database

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// mysqlURL reads mysql://user:password@host:port/name?options.
func mysqlURL(dsn string) (*target, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Fragment != "" || CheckEncoding(dsn) != nil { // err can show a part of the password
		return nil, ErrEncoding
	}
	config, err := mysqldriver.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("MySQL URL: %w", err)
	}
	config.User, config.DBName = u.User.Username(), strings.TrimPrefix(u.Path, "/")
	config.Passwd, _ = u.User.Password()
	config.Addr = net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), "3306"))
	return mysqlServer(config)
}

// mysqlDSN reads the driver's own form.
func mysqlDSN(dsn string) (*target, error) {
	config, err := mysqldriver.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("the MySQL DSN does not parse; want user:password@tcp(host:3306)/name")
	}
	return mysqlServer(config)
}

// mysqlServer speaks UTC: times are parsed, and the session's time zone is UTC unless
// an option says otherwise.
func mysqlServer(config *mysqldriver.Config) (*target, error) {
	if config.DBName == "" {
		return nil, errors.New("it names no database; want mysql://user@host:3306/name")
	}
	if _, port, err := net.SplitHostPort(config.Addr); config.Net == "tcp" && err == nil {
		if err := checkPort(port); err != nil {
			return nil, err
		}
	}
	config.ParseTime, config.Loc, config.Logger = true, time.UTC, &mysqldriver.NopLogger{}
	config.Timeout = cmp.Or(config.Timeout, patience)
	if _, set := config.Params["time_zone"]; !set {
		if config.Params == nil {
			config.Params = map[string]string{}
		}
		config.Params["time_zone"] = "'+00:00'"
	}
	return &target{
		name:    serverName("mysql", config.User, config.Addr, config.DBName),
		timeout: config.Timeout,
		open: func() (*sql.DB, gorm.Dialector, error) {
			connector, err := mysqldriver.NewConnector(config)
			if err != nil {
				return nil, nil, err
			}
			pool := sql.OpenDB(connector)
			return pool, mysql.New(mysql.Config{Conn: pool, DSNConfig: config}), nil
		},
	}, nil
}

func checkPort(port string) error {
	switch n, err := strconv.ParseUint(port, 10, 64); {
	case err != nil: // it can be a part of a password
		return errors.New("the port is not a number, want 1 to 65535")
	case n < 1 || n > 65535:
		return fmt.Errorf("the port is %d, want 1 to 65535", n)
	}
	return nil
}

// quoted finds what a driver quotes from a DSN, which can be a part of a password.
var quoted = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|'[^']*'")

// postgresURL reads postgres://user:password@host:port/name?options.
func postgresURL(dsn string) (*target, error) {
	if err := CheckEncoding(dsn); err != nil {
		return nil, err
	}
	return postgresDSN(dsn)
}

// postgresDSN hands a URL, or keywords and values, to the driver as they are.
func postgresDSN(dsn string) (*target, error) {
	if u, err := url.Parse(dsn); err == nil && u.Port() != "" { // the driver hides the value
		if err := checkPort(u.Port()); err != nil {
			return nil, err
		}
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil { // its text is "cannot parse `DSN`: cause"
		cause := err.Error()
		cause = cause[strings.LastIndex(cause, "`: ")+1:]
		return nil, fmt.Errorf("PostgreSQL DSN%s", quoted.ReplaceAllString(cause, `"…"`))
	}
	if strings.LastIndexByte(config.Host, '@') > 0 { // the driver takes the rest of such a password for the host
		return nil, errors.New("PostgreSQL DSN: an @ in a password must be percent-encoded")
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, patience)
	timeout := config.ConnectTimeout
	for _, other := range config.Fallbacks {
		if other.Host == config.Host && other.Port == config.Port { // by TLS, or without
			continue
		}
		timeout += config.ConnectTimeout
		if config.ValidateConnect == nil { // of several servers, the one that can be written
			config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
	}
	return &target{
		name:    serverName("postgres", config.User, net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), config.Database),
		timeout: timeout,
		open: func() (*sql.DB, gorm.Dialector, error) {
			pool := stdlib.OpenDB(*config)
			return pool, postgres.New(postgres.Config{Conn: pool}), nil
		},
	}, nil
}

func serverName(scheme, user, address, name string) string {
	u := url.URL{Scheme: scheme, Host: address, Path: "/" + name}
	if user != "" {
		u.User = url.User(user)
	}
	return u.String()
}
