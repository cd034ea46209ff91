//go:build linux

// Package handles_test runs the library through handles of GORM as apps set them up, on each
// database: each works, or is refused at the start with the way out, and none hangs.
package handles_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
	"gorm.io/plugin/dbresolver"
	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
)

// cell is a way in which an app sets up its handle.
type cell struct {
	name    string
	option  string // of the DSN
	config  gorm.Config
	change  func(t *testing.T, c *database, db *gorm.DB) // of the handle, by the app
	refused string                                       // what the error of each start says; empty for a handle that works
}

func pool(connections int) func(*testing.T, *database, *gorm.DB) {
	return func(t *testing.T, _ *database, db *gorm.DB) {
		pool, err := db.DB()
		need.Must(t, err)
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
	}
}

var naming = schema.NamingStrategy{TablePrefix: "app_", SingularTable: true, NoLowerCase: true}

// configs are for every database.
var configs = []cell{
	{name: "default"},
	{name: "prepared", config: gorm.Config{PrepareStmt: true}},
	{name: "no transaction", config: gorm.Config{SkipDefaultTransaction: true}},
	{name: "naming", config: gorm.Config{NamingStrategy: naming}},
	{name: "all", config: gorm.Config{NamingStrategy: naming, PrepareStmt: true, PrepareStmtMaxSize: 2, SkipDefaultTransaction: true,
		TranslateError: true, QueryFields: true, CreateBatchSize: 1, AllowGlobalUpdate: true, PropagateUnscoped: true,
		FullSaveAssociations: true, DisableNestedTransaction: true, DisableForeignKeyConstraintWhenMigrating: true}},
	{name: "dry run", config: gorm.Config{DryRun: true}, refused: "dry-run"},
	{name: "pool of one", change: pool(1)},
	{name: "pool of one, prepared", config: gorm.Config{PrepareStmt: true}, change: pool(1)},
	{name: "pool of forty", change: pool(40)},
	{name: "one connection", change: within(func(pool *sql.DB) (gorm.ConnPool, error) { return pool.Conn(context.Background()) }), refused: "it is one connection"},
	{name: "transaction", change: within(func(pool *sql.DB) (gorm.ConnPool, error) { return pool.Begin() }), refused: "it is inside a transaction"},
	{name: "replica", change: replica},
	{name: "replica, prepared", config: gorm.Config{PrepareStmt: true}, change: replica},
}

// within has the handle stand on one connection or transaction of its pool, as gorm.Open takes it in the dialector's Conn.
func within(take func(*sql.DB) (gorm.ConnPool, error)) func(*testing.T, *database, *gorm.DB) {
	return func(t *testing.T, _ *database, db *gorm.DB) {
		all, err := db.DB()
		need.Must(t, err)
		one, err := take(all)
		need.Must(t, err)
		db.ConnPool, db.Statement.ConnPool = one, one
		t.Cleanup(func() { db.ConnPool, db.Statement.ConnPool = all, all })
	}
}

// replica sends what a resolver takes for reads to a database without tables.
func replica(t *testing.T, c *database, db *gorm.DB) {
	need.Must(t, db.Use(dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{c.empty(t)}})))
}

// options are of one kind of database.
var options = map[string][]cell{
	"sqlite": {
		{name: "deferred", option: "_txlock=deferred"}, {name: "exclusive", option: "_txlock=exclusive"},
		{name: "WAL", option: "_journal_mode=WAL"}, {name: "foreign keys", option: "_foreign_keys=1"},
		{name: "shared cache", option: "cache=shared", change: pool(1)},
	},
	"mysql": {
		{name: "interpolated", option: "interpolateParams=true"}, {name: "found rows", option: "clientFoundRows=true"},
		{name: "time", option: "parseTime=true&loc=Asia%2FKathmandu&time_zone=%27-11%3A30%27"},
		{name: "several statements", option: "multiStatements=true&interpolateParams=true", config: gorm.Config{PrepareStmt: true}},
		{name: "read uncommitted", option: "tx_isolation=%27READ-UNCOMMITTED%27"}, {name: "read committed", option: "tx_isolation=%27READ-COMMITTED%27"},
		{name: "serializable", option: "tx_isolation=%27SERIALIZABLE%27"},
		{name: "lax", option: "sql_mode=%27%27"}, {name: "ANSI", option: "sql_mode=%27ANSI%2CTRADITIONAL%2CNO_BACKSLASH_ESCAPES%27"},
		{name: "zero keys", option: "sql_mode=%27NO_AUTO_VALUE_ON_ZERO%27"}, {name: "Oracle", option: "sql_mode=ORACLE"},
		{name: "latin1", option: "charset=latin1"}, {name: "collation", option: "collation=utf8mb4_bin"},
		{name: "safe updates", option: "sql_safe_updates=1"}, {name: "steps", option: "auto_increment_increment=3&auto_increment_offset=2"},
	},
	"postgres": {
		{name: "simple", option: "default_query_exec_mode=simple_protocol"}, {name: "exec", option: "default_query_exec_mode=exec"},
		{name: "cached descriptions", option: "default_query_exec_mode=cache_describe"}, {name: "described", option: "default_query_exec_mode=describe_exec"},
		{name: "repeatable read", option: "default_transaction_isolation=repeatable%20read"},
		{name: "serializable", option: "default_transaction_isolation=serializable"},
		{name: "backslashes", option: "standard_conforming_strings=off"}, {name: "time", option: "timezone=Pacific/Kiritimati&datestyle=German"},
		{name: "generic plans", option: "plan_cache_mode=force_generic_plan"},
	},
}

// database is a new database for one cell.
type database struct {
	*dbtest.Store
	dsn    string
	driver string // of SQLite; empty is that of GORM's dialector
}

// dialector opens a DSN as the pages of GORM's drivers do.
func (c *database) dialector(dsn string) gorm.Dialector {
	if c.driver != "" {
		return sqlite.New(sqlite.Config{DriverName: c.driver, DSN: dsn})
	}
	return map[string]func(string) gorm.Dialector{"sqlite": sqlite.Open, "mysql": mysql.Open, "postgres": postgres.Open}[c.Kind](dsn)
}

func create(t *testing.T, server *dbtest.Store) *database {
	t.Helper()
	name := "uidring_" + strings.ToLower(rand.Text()[:12])
	c := &database{Store: server}
	switch server.Kind {
	case "sqlite":
		need.Cgo(t)
		c.dsn = "file:" + filepath.Join(t.TempDir(), name) + "?_busy_timeout=10000"
		return c
	case "mysql":
		config, err := mysqldriver.ParseDSN(server.URL)
		need.Must(t, err)
		config.DBName = name
		c.dsn = config.FormatDSN() + "?charset=utf8mb4"
	case "postgres":
		u, err := url.Parse(server.URL)
		need.Must(t, err)
		u.Path = name
		c.dsn = u.String()
	}
	server.Exec(t, "CREATE DATABASE %s", name)
	t.Cleanup(func() {
		if server.Kind == "postgres" {
			name += " WITH (FORCE)"
		}
		server.Exec(t, "DROP DATABASE %s", name)
	})
	return c
}

// empty is another database, without tables.
func (c *database) empty(t *testing.T) gorm.Dialector { return c.dialector(create(t, c.Store).dsn) }

// open opens a handle on the database as a cell has it.
func (c *database) open(t *testing.T, how cell) *gorm.DB {
	t.Helper()
	config, dsn := how.config, c.dsn
	config.Logger = logger.Discard
	if how.option != "" {
		dsn += "&" + how.option
	}
	db, err := gorm.Open(c.dialector(dsn), &config)
	need.Must(t, err)
	t.Cleanup(func() { need.Must(t, dbtest.Close(db)) })
	if how.change != nil {
		how.change(t, c, db)
	}
	return db
}

// altered changes columns that the library reads.
var altered = map[string][]string{
	"sqlite": {"ALTER TABLE WORKER_NODE ADD COLUMN note INT", "ALTER TABLE WORKER_LEASE ADD COLUMN note INT",
		"ALTER TABLE leaf_alloc ADD COLUMN note INT", "ALTER TABLE SEQUENCE ADD COLUMN note INT"},
	"mysql": {"ALTER TABLE WORKER_NODE MODIFY HOST_NAME VARCHAR(100) NOT NULL", "ALTER TABLE WORKER_LEASE MODIFY token VARCHAR(100) NOT NULL",
		"ALTER TABLE leaf_alloc MODIFY biz_tag VARCHAR(150) NOT NULL, MODIFY max_id DECIMAL(20) NOT NULL", "ALTER TABLE SEQUENCE MODIFY table_name VARCHAR(150) NOT NULL"},
	"postgres": {"ALTER TABLE worker_node ALTER host_name TYPE VARCHAR(100)", "ALTER TABLE worker_lease ALTER token TYPE VARCHAR(100), ALTER host TYPE TEXT",
		"ALTER TABLE leaf_alloc ALTER biz_tag TYPE VARCHAR(150), ALTER max_id TYPE NUMERIC", "ALTER TABLE sequence ALTER table_name TYPE TEXT, ALTER next_id TYPE NUMERIC"},
}

// On each handle, the tables are made in the first pass, found in the second, and altered before the
// third, on connections that are open since the first.
func (how cell) run(t *testing.T, c *database) {
	ctx := context.Background()
	a := &app{db: c.open(t, how), seen: map[string]map[uid.ID]bool{}}
	if how.refused != "" {
		for step, err := range a.pass(ctx) {
			if err == nil || !strings.Contains(err.Error(), how.refused) {
				t.Errorf("%s: %v, want that it is refused: %s", step, err, how.refused)
			}
		}
		return
	}
	for pass := range lastPass + 1 {
		if pass == lastPass {
			db := a.db
			if c.driver == "" { // not in memory
				db = c.open(t, cell{})
			}
			for _, statement := range altered[c.Kind] {
				need.Must(t, db.Exec(statement).Error)
			}
		}
		for step, err := range a.pass(ctx) {
			if err != nil {
				t.Errorf("pass %d: %s: %v", pass+1, step, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	need.Must(t, a.close(ctx))
}

func TestHandles(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			for _, how := range append(options[kind], configs...) {
				t.Run(how.name, func(t *testing.T) { how.run(t, create(t, dbtest.New(t, kind))) })
			}
		})
	}
}

// Servers with settings that a session does not change.
func TestServers(t *testing.T) {
	for name, args := range map[string][]string{
		"folds names":        {"--lower-case-table-names=1"},
		"wants primary keys": {"--innodb-force-primary-key", "--character-set-server=latin1", "--collation-server=latin1_bin"},
		"logs statements":    {"--log-bin=log", "--binlog-format=STATEMENT"},
	} {
		t.Run(name, func(t *testing.T) {
			server := servertest.MariaDB(t, t.TempDir()).With(args...).Start(t, dbtest.Answers)
			cell{}.run(t, create(t, dbtest.At(t, "mysql", server.URL(server.Address))))
		})
	}
}

// Through a pooler in transaction mode, a driver that prepares statements is told not to.
func TestPgBouncer(t *testing.T) {
	server := dbtest.New(t, "postgres")
	u, err := url.Parse(server.URL)
	need.Must(t, err)
	pooler := servertest.PgBouncer(t, u.Host)
	for _, how := range []cell{
		{name: "simple", option: "default_query_exec_mode=simple_protocol"},
		{name: "exec", option: "default_query_exec_mode=exec"},
		{name: "prepares", refused: "add default_query_exec_mode=exec to the DSN", change: func(t *testing.T, c *database, _ *gorm.DB) {
			other := &app{db: c.open(t, cell{change: pool(1)}), seen: map[string]map[uid.ID]bool{}}
			other.pass(t.Context()) // which leaves its statements on the pooler's connection
		}},
	} {
		t.Run(how.name, func(t *testing.T) {
			c := create(t, server)
			c.dsn = strings.Replace(c.dsn, u.Host, pooler, 1)
			how.run(t, c)
		})
	}
}

// In memory, each connection has a database of its own, unless the cache is shared.
func TestMemory(t *testing.T) {
	for _, driver := range []string{sqlite.DriverName, "sqlite"} {
		for _, how := range []cell{
			{name: ":memory:", refused: "SetMaxOpenConns(1)"},
			{name: "file:one?mode=memory", refused: "cache=shared"},
			{name: ":memory:", change: pool(1)},
			{name: "file:two?mode=memory&cache=shared"},
		} {
			t.Run(driver+"/"+how.name, func(t *testing.T) {
				if driver == sqlite.DriverName {
					need.Cgo(t)
				}
				c := &database{Store: &dbtest.Store{Kind: "sqlite"}, dsn: how.name}
				c.driver = driver
				how.run(t, c)
			})
		}
	}
}
