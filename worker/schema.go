package worker

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// DefaultTable is the table's name unless WithTable says otherwise, as in
// uid-generator. PostgreSQL folds it to worker_node.
const DefaultTable = "WORKER_NODE"

// DefaultLeaseTable is the name of a Leaser's table unless WithTable says
// otherwise.
const DefaultLeaseTable = "WORKER_LEASE"

// The two kinds of table.
var (
	registryKind = kind{"Registry", DefaultTable, "id", func(d dialect) string { return d.nodes }}
	leaserKind   = kind{"Leaser", DefaultLeaseTable, "worker_id", func(d dialect) string { return d.leases }}
)

var (
	//go:embed schema/node_mysql.sql
	mysqlNodes string
	//go:embed schema/node_postgres.sql
	postgresNodes string
	//go:embed schema/node_sqlite.sql
	sqliteNodes string
	//go:embed schema/lease_mysql.sql
	mysqlLeases string
	//go:embed schema/lease_postgres.sql
	postgresLeases string
	//go:embed schema/lease_sqlite.sql
	sqliteLeases string
)

// dialect is what differs between kinds of database. The zero value stands for
// one that is not known: rows can be written and read there, times cannot.
type dialect struct {
	nodes  string // creates the table DefaultTable
	leases string // creates the table DefaultLeaseTable
	folds  bool   // names without quotes are lower case
	epoch  string // the seconds since 1970 of the timestamp %s
	date   string // the date %s as YYYY-MM-DD
	step   string // selects by how much keys grow
	now    string // the milliseconds since 1970, as they are when it is evaluated

	// reads is the least isolation at which nothing uncommitted is seen: the
	// default where there is no lower one.
	reads sql.IsolationLevel

	// missing tells the error for a table that is not there from every other:
	// without right to read it, behind a lock, or with the connection lost, a
	// table is not to be made anew.
	missing func(error) bool

	// transient tells the error for a transaction that got into another's way,
	// and goes through if it is tried again.
	transient func(error) bool
}

// sqlState tells PostgreSQL's errors by their code.
func sqlState(codes ...string) func(error) bool {
	return func(err error) bool {
		var state interface{ SQLState() string }
		return errors.As(err, &state) && slices.Contains(codes, state.SQLState())
	}
}

// words tells errors by what their text contains.
func words(parts ...string) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) })
	}
}

// dialects has them by the name that GORM's dialector gives.
var dialects = map[string]dialect{
	"mysql": {
		nodes:  mysqlNodes,
		leases: mysqlLeases,
		epoch:  "UNIX_TIMESTAMP(%s)",
		date:   "DATE_FORMAT(%s, '%%Y-%%m-%%d')",
		step:   "SELECT @@auto_increment_increment",
		// Not UNIX_TIMESTAMP(NOW()): where clocks are put back in autumn, that
		// jumps an hour.
		reads:     sql.LevelReadCommitted,
		now:       "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)",
		missing:   words("Error 1146 "),
		transient: words("Error 1213 ", "Error 1205 ", "Error 1020 ", "Error 1062 "), // deadlock, lock wait, changed since read, duplicate
	},
	"postgres": {
		nodes:     postgresNodes,
		leases:    postgresLeases,
		folds:     true,
		epoch:     "EXTRACT(EPOCH FROM CAST(%s AS TIMESTAMP WITH TIME ZONE))",
		date:      "TO_CHAR(%s, 'YYYY-MM-DD')",
		now:       "CAST(EXTRACT(EPOCH FROM CLOCK_TIMESTAMP()) * 1000 AS BIGINT)",
		missing:   sqlState("42P01"),
		transient: sqlState("40001", "40P01", "23505"), // serialization failure, deadlock, duplicate
	},
	"sqlite": {
		nodes:     sqliteNodes,
		leases:    sqliteLeases,
		epoch:     "CAST(STRFTIME('%%s', %s) AS INTEGER)",
		date:      "STRFTIME('%%Y-%%m-%%d', %s)",
		now:       "CAST((JULIANDAY('now') - 2440587.5) * 86400000 AS INTEGER)",
		missing:   words("no such table"),
		transient: words("database is locked", "database table is locked", "UNIQUE constraint failed"),
	},
}

// column is an expression that selects a column in the given form under its
// own name: MySQL and SQLite would else call it as the table's creator wrote it.
func column(form, name string) string {
	if form == "" {
		return "NULL AS " + name
	}
	return fmt.Sprintf(form, name) + " AS " + name
}

func (t *table) ensureSchema(ctx context.Context) error {
	missing := t.look(ctx)
	if missing == nil {
		return nil
	}
	schema := t.kind.schema(t.dialect())
	if schema == "" && ctx.Err() == nil {
		return fmt.Errorf("%w: %s; create %s by hand: %w", ErrDialect, t.db.Name(), t.name, missing)
	}
	if ctx.Err() != nil || !t.dialect().missing(missing) {
		return t.fail(ctx, "look for", missing)
	}
	err := t.primary(ctx, func(tx *gorm.DB) error {
		return tx.Exec(strings.ReplaceAll(schema, t.fold(t.kind.table), t.quoted())).Error
	})
	if err == nil || t.look(ctx) == nil {
		return nil
	}
	return t.fail(ctx, "create", err)
}

// look returns nil if the table can be read. Reading it, rather than a
// catalogue, finds it by the same rules (search path, case of letters, rights)
// as the insert will.
func (t *table) look(ctx context.Context) error {
	return t.primary(ctx, func(tx *gorm.DB) error {
		return tx.Exec("SELECT " + t.kind.key + " FROM " + t.quoted() + " WHERE 1 = 0").Error
	})
}

func (t *table) dialect() dialect { return dialects[t.db.Name()] }

// fold writes a name as the database does.
func (t *table) fold(name string) string {
	if t.dialect().folds {
		return strings.ToLower(name)
	}
	return name
}

// quoted is the table's name as it stands in a statement.
func (t *table) quoted() string { return t.db.Statement.Quote(t.fold(t.name)) }
