package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// table is one of the two tables, of a Registry or a Store.
type table struct {
	kind   kind
	db     *gorm.DB
	name   string
	ensure bool   // create it if it is missing
	faults error  // of the config
	nodes  *table // WORKER_NODE beside WORKER_LEASE; nil in the former

	dirty  atomic.Bool            // sessions read what is not committed; written by readSession, read by reads
	schema atomic.Pointer[string] // of WORKER_NODE, in which WORKER_LEASE is looked for; written by beside, read by full
}

// kind is what differs between the two tables.
type kind struct {
	table  string // its name without a prefix
	key    string // its primary key
	schema string // how the names of its schemas begin
	rights string // that a service needs
}

// String returns the name of the table, for logs.
func (t *table) String() string { return t.name }

// full is the name in statements.
func (t *table) full() string {
	name := t.dialect().Fold(t.name)
	if schema := t.schema.Load(); schema != nil {
		name = *schema + "." + name
	}
	return name
}

// beside finds the schema of WORKER_NODE, which is that of WORKER_LEASE too: PostgreSQL's search path may lead the two names
// to two schemas.
func (t *table) beside(ctx context.Context) error {
	if t.db.Name() != "postgres" || strings.Contains(t.name, ".") {
		return nil
	}
	var schemas []string
	err := t.ask(ctx, &schemas, "SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = to_regclass(?)", t.nodes.quoted())
	if err == nil && len(schemas) == 1 {
		t.schema.Store(&schemas[0])
	}
	return err
}

// query puts the tables and the database's clock into a statement.
func (t *table) query(statement string) string {
	if t.nodes != nil {
		statement = strings.ReplaceAll(statement, "{nodes}", t.nodes.quoted())
	}
	return strings.NewReplacer("{table}", t.quoted(), "{now}", t.dialect().now).Replace(statement)
}

// alone runs f on the primary. Each statement in it commits by itself.
func (t *table) alone(ctx context.Context, f func(tx *gorm.DB) error) error {
	return t.marked(sqldb.Alone(ctx, t.db, f))
}

// exec runs one statement, which commits by itself, and returns how many rows it wrote.
func (t *table) exec(ctx context.Context, statement string, vars ...any) (rows int64, err error) {
	return t.execWith(ctx, t.grants(), statement, vars...)
}

// execWith is exec for a statement that needs other rights.
func (t *table) execWith(ctx context.Context, grants []string, statement string, vars ...any) (rows int64, err error) {
	err = t.alone(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(t.query(statement), t.values(vars...)...)
		rows = result.RowsAffected
		return sqldb.Denied(t.db, result.Error, grants...)
	})
	return rows, err
}

// ask runs a query as reads does, and scans the rows into dest.
func (t *table) ask(ctx context.Context, dest any, query string, vars ...any) error {
	return t.reads(ctx, func(tx *gorm.DB) error { return t.scan(tx, dest, query, vars...) })
}

// scan runs a query, and scans the rows into dest.
func (t *table) scan(tx *gorm.DB, dest any, query string, vars ...any) error {
	return tx.Raw(t.query(query), t.values(vars...)...).Scan(dest).Error
}

// values returns the values of a statement. For MySQL, numbers and plain words such as tokens become part of its text: a
// statement with a value costs three requests, of which the first prepares it.
func (t *table) values(vars ...any) []any {
	if t.db.Name() == "mysql" {
		for i, v := range vars {
			if number, ok := v.(int64); ok {
				vars[i] = gorm.Expr(strconv.FormatInt(number, 10))
			} else if text, ok := v.(string); ok && plain.MatchString(text) {
				vars[i] = gorm.Expr("'" + text + "'")
			}
		}
	}
	return vars
}

// plain has nothing that a quote, an escape or a character set of a session could change.
var plain = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// marked marks the error of a request that succeeds if it is made again, or if the user gets a right.
func (t *table) marked(err error) error {
	if t.dialect().Transient(err) {
		return leasestore.Transient(err)
	}
	return sqldb.Denied(t.db, err, t.grants()...)
}

// list runs a query for at most limit rows. A plugin may send the query to a replica.
func (t *table) list(ctx context.Context, dest any, query string, limit int) error {
	if limit > 0 {
		query += " LIMIT " + strconv.Itoa(limit)
	}
	err := t.noTable(t.marked(sqldb.Fresh(func() error { return sqldb.Session(ctx, t.db).Raw(query).Scan(dest).Error })))
	if errors.Is(err, ErrNoTable) {
		if looked := t.look(ctx); errors.Is(looked, ErrMixed) {
			return looked
		}
	}
	return err
}

// check returns all faults of the config and the handle.
func (t *table) check() error {
	err := sqldb.Unfit(t.db)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDB, err)
	}
	return errors.Join(t.faults, err)
}

// keyed refuses tables of which one has a key that is not unique, or does not count. It returns an error that is
// transient as well.
func keyed(ctx context.Context, log *slog.Logger, tables ...*table) error {
	t := tables[0]
	keys := make([][2]string, len(tables))
	for i, t := range tables {
		keys[i] = [2]string{t.full(), t.kind.key}
	}
	keyless, err := sqldb.Keyless(ctx, t.db, keys...)
	switch {
	case t.dialect().Transient(err) || ctx.Err() != nil:
		return err
	case err != nil:
		log.WarnContext(ctx, "worker: the catalog of the database does not say whether the tables have keys", "table", t.name, "error", err)
	case keyless != "":
		i := slices.IndexFunc(keys, func(k [2]string) bool { return k[0] == keyless })
		return fmt.Errorf("%w: %s has none on %s, so two processes could take the same number; stop all users of the table, and run: "+
			"CREATE UNIQUE INDEX %s_key ON %[2]s (%[3]s)", ErrKey, tables[i].name, keys[i][1], strings.ToLower(tables[i].kind.table))
	}
	return t.counts(ctx)
}

// counts refuses SQLite's keys without AUTOINCREMENT, which come again when the last row is deleted.
func (t *table) counts(ctx context.Context) error {
	if t.db.Name() != "sqlite" {
		return nil
	}
	var texts []string
	err := t.ask(ctx, &texts, "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", t.name[strings.LastIndexByte(t.name, '.')+1:])
	if err == nil && len(texts) > 0 && !strings.Contains(strings.ToUpper(texts[0]), "AUTOINCREMENT") {
		err = fmt.Errorf("%w: the key of %s is not AUTOINCREMENT, so SQLite gives the key of a deleted row again; make the table as uidring schema sqlite prints it, and copy the rows",
			ErrKey, t.name)
	}
	return err
}

func (t *table) fail(ctx context.Context, doing string, err error) error {
	if _, ok := errors.AsType[*lease.ExhaustedError](err); ok {
		return err // complete by itself
	}
	return calls.Error(ctx, "worker", doing+" "+t.name, err)
}

// noTable makes the error for a missing table match ErrNoTable.
func (t *table) noTable(err error) error {
	if t.dialect().Missing(err) {
		return &missingTable{err}
	}
	return err
}

type missingTable struct{ error }

func (e *missingTable) Is(target error) bool {
	return target == ErrNoTable || target == leasestore.ErrNotCreated
}

func (e *missingTable) Unwrap() error { return e.error }
