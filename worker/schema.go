package worker

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
)

// The two kinds of table. PostgreSQL folds their names to lower case.
var (
	nodeKind  = kind{"WORKER_NODE", "id", "node", "SELECT, INSERT"}
	leaseKind = kind{"WORKER_LEASE", "worker_id", "lease", "SELECT, INSERT, UPDATE"}
)

// schemas are the statements that create the tables, as schema/kind_dialect.sql.
//
//go:embed schema
var schemas embed.FS

// dialect is what differs between kinds of database. The zero value stands for an
// unknown kind: rows can be written and read there, times cannot.
type dialect struct {
	sqldb.Kind
	date string // the date %s as YYYY-MM-DD
	now  string // the milliseconds since 1970, when the expression is evaluated

	greatest string                 // the function of the greatest of its arguments
	lock     string                 // locks the rows that a subquery reads
	made     func(wrote int64) bool // whether Store.count, which wrote so many rows, may have made the first one
	counts   string                 // makes the second row of Store.count raise the count, and a first one that exists change nothing
}

// dialects are by the name of GORM's dialector.
var dialects = map[string]dialect{
	"mysql": {
		date: "DATE_FORMAT(%s, '%%Y-%%m-%%d')",
		// Not UNIX_TIMESTAMP(NOW()): where clocks are put back in autumn, that
		// jumps an hour.
		now:      "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)",
		greatest: "GREATEST",
		lock:     " FOR UPDATE",
		made:     func(wrote int64) bool { return wrote%2 == 1 }, // an update of a row counts as 2, one that changes nothing as 0
		counts:   "ON DUPLICATE KEY UPDATE reserved_until = IF({table}.worker_id < 0, VALUES(reserved_until), {table}.reserved_until)",
	},
	"postgres": {
		date:     "TO_CHAR(%s, 'YYYY-MM-DD')",
		now:      "CAST(EXTRACT(EPOCH FROM CLOCK_TIMESTAMP()) * 1000 AS BIGINT)",
		greatest: "GREATEST",
		lock:     " FOR UPDATE",
		made:     func(wrote int64) bool { return wrote == 2 },
		counts:   "ON CONFLICT (worker_id) DO UPDATE SET reserved_until = excluded.reserved_until WHERE {table}.worker_id < 0",
	},
	"sqlite": {
		date:     "STRFTIME('%%Y-%%m-%%d', %s)",
		now:      "CAST((JULIANDAY('now') - 2440587.5) * 86400000 AS INTEGER)",
		greatest: "MAX",
		made:     func(wrote int64) bool { return wrote == 2 },
		counts:   "ON CONFLICT (worker_id) DO UPDATE SET reserved_until = excluded.reserved_until WHERE {table}.worker_id < 0",
	},
}

func (t *table) dialect() dialect {
	d := dialects[t.db.Name()]
	d.Kind = sqldb.KindOf(t.db.Name())
	return d
}

// column is an expression that selects a column in the given form under its own name.
// MySQL and SQLite would otherwise name the column as the table's creator wrote it.
func column(form, name string) string {
	if form == "" {
		return "NULL AS " + name
	}
	return fmt.Sprintf(form, name) + " AS " + name
}

// EnsureSchema creates the table if it is missing, and does not alter an existing table. Each
// generator that starts calls it, unless the config sets NoSchema: call it to create the table
// earlier, as in a migration. If the table exists, the user does not need the privilege to create
// it. EnsureSchema creates a table only if the database reports that none exists: a second table,
// in another schema on the search path, would count from 1 again. For the same reason, EnsureSchema
// fails with ErrMixed if another table's name differs only in letter case, as PostgreSQL and MySQL
// on Linux allow. An in-memory SQLite database needs a pool of one connection or a shared cache;
// otherwise, the error matches ErrDB.
//
// On a database other than MySQL, MariaDB, PostgreSQL and SQLite, EnsureSchema only checks that the
// table exists. If it is missing, the error matches ErrDialect and names the kind of database.
func (t *table) EnsureSchema(ctx context.Context) error {
	if err := t.check(); err != nil {
		return err
	}
	missing := t.look(ctx)
	if missing == nil {
		return nil
	}
	schema, none := t.Schema()
	if none != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", none, missing)
	}
	if ctx.Err() != nil || !t.dialect().Missing(missing) {
		return t.fail(ctx, "look for", missing)
	}
	err := sqldb.Alone(ctx, t.db, func(tx *gorm.DB) error { return tx.Exec(schema).Error })
	switch looked := t.look(ctx); { // another process may be faster, or create one in other letters
	case looked == nil:
		return nil
	case err == nil:
		return t.fail(ctx, "look for", looked)
	}
	return t.fail(ctx, "create", t.marked(sqldb.Denied(t.db, err, t.createGrants(sqldb.CreateSchema(ctx, t.db))...)))
}

// Schema returns the statement with which EnsureSchema creates the table on this kind of database.
// It uses no connection. Errors match ErrDB, ErrDialect or lease.ErrConfig.
func (t *table) Schema() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	schema, err := schemas.ReadFile("schema/" + t.kind.schema + "_" + t.db.Name() + ".sql")
	if err != nil {
		return "", fmt.Errorf("%w: %s; create %s by hand", ErrDialect, t.db.Name(), t.name)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(schema)), "CREATE TABLE IF NOT EXISTS "+t.dialect().Fold(t.kind.table), "CREATE TABLE IF NOT EXISTS "+t.quoted()), nil
}

// Grants returns the privileges that a running service's database user needs, each as the text
// between GRANT and TO.
func (t *table) Grants() []string { return t.grants() }

func (t *table) grants() []string { return []string{t.kind.rights + " ON " + t.name} }

// CreateGrants returns the additional privileges that the user needs if a starting generator has
// to create the table. On PostgreSQL, that is CREATE on the schema in the table's name, or on
// public if the name has no schema.
func (t *table) CreateGrants() []string { return t.createGrants("") }

func (t *table) createGrants(schema string) []string { return sqldb.CreateGrants(t.db, t.name, schema) }

// ready looks for the table at a start, and creates it unless the config has NoSchema.
func (t *table) ready(ctx context.Context) error {
	if t.ensure {
		return t.EnsureSchema(ctx)
	}
	if err := t.look(ctx); err != nil {
		return t.fail(ctx, "look for", t.noTable(err))
	}
	return nil
}

// look returns nil if the table can be read. The error matches ErrMixed if there is another
// with the same name in other letters, which another process may use.
func (t *table) look(ctx context.Context) error {
	err := sqldb.Look(ctx, t.db, t.full(), t.kind.key)
	switch {
	case errors.Is(err, sqldb.ErrNamesake):
		return fmt.Errorf("%w: %w", ErrMixed, err)
	case errors.Is(err, sqldb.ErrMemory), errors.Is(err, sqldb.ErrMerges):
		return fmt.Errorf("%w: %w", ErrDB, err)
	}
	return t.marked(err)
}

// quoted is the table's name in a statement.
func (t *table) quoted() string { return t.db.Statement.Quote(t.full()) }
