package backfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/sqldb"
)

// columns select the columns of the table @name, and in extra what the table is if it is not one.
var columns = map[string]string{
	"mysql": "SELECT c.column_name AS name, LOWER(c.column_type) AS type, c.is_nullable = 'YES' AS nullable, " +
		"IF(t.table_type = 'BASE TABLE', LOWER(c.extra), 'a view') AS extra FROM information_schema.columns c " +
		"JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name " +
		"WHERE c.table_name = SUBSTRING_INDEX(@name, '.', -1) AND c.table_schema = IF(LOCATE('.', @name) > 0, SUBSTRING_INDEX(@name, '.', 1), DATABASE()) " +
		"ORDER BY c.ordinal_position",
	"postgres": "SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable, " +
		"CASE WHEN relkind IN ('r', 'p') THEN '' ELSE 'a view' END AS extra FROM pg_class c JOIN pg_attribute ON attrelid = c.oid " +
		"WHERE c.oid = to_regclass(@quoted) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
	"sqlite": "SELECT x.name, LOWER(x.type) AS type, NOT x.\"notnull\" AS nullable, CASE m.type WHEN 'table' THEN '' ELSE 'a view' END AS extra " +
		"FROM sqlite_master m, pragma_table_xinfo(m.name) x WHERE m.type IN ('table', 'view') AND m.name = @name COLLATE NOCASE ORDER BY x.cid",
}

// indexes select the table's indexes of all rows.
var indexes = map[string]string{
	"mysql": "SELECT index_name AS name, GROUP_CONCAT(COALESCE(column_name, '()') ORDER BY seq_in_index) AS columns, MAX(non_unique) = 0 AS `unique`, " +
		"index_name = 'PRIMARY' AS `primary` FROM information_schema.statistics WHERE table_name = SUBSTRING_INDEX(@name, '.', -1) " +
		"AND table_schema = IF(LOCATE('.', @name) > 0, SUBSTRING_INDEX(@name, '.', 1), DATABASE()) GROUP BY index_name",
	"postgres": "SELECT i.relname AS name, indisunique AS unique, indisprimary AS primary, (SELECT STRING_AGG(COALESCE(attname, '()'), ',' ORDER BY n) " +
		"FROM UNNEST(CAST(indkey AS INT2[])) WITH ORDINALITY k(number, n) LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = number WHERE n <= indnkeyatts) AS columns " +
		"FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = to_regclass(@quoted) AND indisvalid AND indpred IS NULL",
	"sqlite": "SELECT name, \"unique\", 0 AS \"primary\", (SELECT GROUP_CONCAT(COALESCE(name, '()')) FROM pragma_index_info(i.name)) AS columns " +
		"FROM pragma_index_list(@name) i WHERE NOT partial " +
		"UNION ALL SELECT '', 1, 1, GROUP_CONCAT(name) FROM pragma_table_info(@name) WHERE pk > 0 HAVING COUNT(*) > 0",
}

// look returns the table that the flags name, or what is wrong with it. It changes nothing.
func look(ctx context.Context, db *gorm.DB, f *flags) (*table, error) {
	t := &table{db: db, kind: sqldb.KindOf(db.Name()), name: f.table, zone: f.zone}
	if columns[db.Name()] == "" {
		return nil, fmt.Errorf("backfill is for MySQL, MariaDB, PostgreSQL and SQLite, not for %s", db.Name())
	}
	var all []column
	err := sqldb.Alone(ctx, db, func(tx *gorm.DB) error {
		if err := tx.Exec(t.sql("EXPLAIN SELECT 1 FROM {table}")).Error; err != nil {
			return err
		}
		named := map[string]any{"name": f.table, "quoted": db.Statement.Quote(clause.Table{Name: f.table})}
		return errors.Join(tx.Raw(columns[db.Name()], named).Scan(&all).Error, tx.Raw(indexes[db.Name()], named).Scan(&t.indexes).Error)
	})
	switch {
	case t.kind.Missing(err), err == nil && len(all) == 0:
		return nil, fmt.Errorf("--table %s: there is no such table", f.table)
	case err != nil:
		return nil, fmt.Errorf("--table %s: %w", f.table, t.denied(err, f))
	case all[0].Extra == "a view":
		return nil, fmt.Errorf("--table %s: it is a view, want the table behind it", f.table)
	}
	var faults []error
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		if strings.Contains(c.Extra, "on update") {
			t.kept += ", " + t.quote(c) + " = " + t.quote(c)
		}
	}
	for _, named := range []struct {
		flag, name string
		found      *column
		check      func(column) string
	}{{"key", f.key, &t.key, t.checkKey}, {"time", f.time, &t.time, t.checkTime}, {"column", f.column, &t.column, t.checkColumn}} {
		at := slices.IndexFunc(all, func(c column) bool {
			return c.Name == named.name || db.Name() != "postgres" && strings.EqualFold(c.Name, named.name)
		})
		var wrong string
		if at < 0 {
			wrong = fmt.Sprintf("%s has no such column, it has %s", f.table, strings.Join(names, ", "))
		} else {
			*named.found = all[at]
			wrong = named.check(all[at])
		}
		if wrong != "" {
			faults = append(faults, fmt.Errorf("--%s %s: %s", named.flag, named.name, wrong))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return t, t.probe(ctx, f)
}

func (t *table) checkKey(c column) string {
	want := "want a primary key, or a column that has a unique index to itself"
	for _, i := range t.indexes {
		switch {
		case i.Unique && strings.EqualFold(i.Columns, c.Name):
			return ""
		case i.Primary:
			want = fmt.Sprintf("the primary key is (%s), want a column that has a unique index to itself", strings.ReplaceAll(i.Columns, ",", ", "))
		}
	}
	return "it does not identify a row; " + want
}

func (t *table) checkTime(c column) string {
	for _, prefix := range map[string][]string{
		"mysql": {"timestamp", "datetime", "date"}, "postgres": {"timestamp", "date"}, "sqlite": {"timestamp", "date", "text", "varchar"},
	}[t.db.Name()] {
		if strings.HasPrefix(c.Type, prefix) {
			return ""
		}
	}
	return fmt.Sprintf("its type is %q, want one of times: TIMESTAMP, DATETIME or DATE", c.Type)
}

func (t *table) checkColumn(c column) string {
	whole := strings.HasPrefix(c.Type, "bigint") || t.db.Name() == "sqlite" && strings.Contains(c.Type, "int")
	switch {
	case strings.EqualFold(c.Name, t.key.Name) || strings.EqualFold(c.Name, t.time.Name):
		return "it is the key or the time, want a column of its own"
	case !whole:
		return fmt.Sprintf("its type is %q, want BIGINT", c.Type)
	case !c.Nullable:
		return "it cannot be NULL, and NULL is how backfill knows the rows that need an id; want a BIGINT that may be NULL"
	}
	return ""
}

// probe asks whether the statements to come are allowed, and whether times are read as they are meant.
func (t *table) probe(ctx context.Context, f *flags) error {
	zone := ""
	err := sqldb.Alone(ctx, t.db, func(tx *gorm.DB) error {
		for _, statement := range []string{"EXPLAIN SELECT {key}, {time}, {column} FROM {table}", "EXPLAIN UPDATE {table} SET {column} = 1 WHERE {key} IS NULL"} {
			if err := tx.Exec(t.sql(statement)).Error; err != nil {
				return err
			}
		}
		if t.db.Name() == "mysql" && t.time.zoned() {
			return tx.Raw("SELECT IF(NOW() = UTC_TIMESTAMP(), '', @@time_zone)").Scan(&zone).Error
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("--table %s: %w", t.name, t.denied(err, f))
	case zone != "":
		return fmt.Errorf("--dsn: the session's time zone is %s, in which a TIMESTAMP is ambiguous; leave out time_zone", zone)
	}
	return nil
}

// denied adds the right that is missing to an error about rights.
func (t *table) denied(err error, f *flags) error {
	if !t.kind.Denied(err) {
		return err
	}
	return fmt.Errorf("%w; backfill needs GRANT SELECT, UPDATE (%s) ON %s", err, f.column, f.table)
}

// survey is what is to be filled.
type survey struct {
	Rows, Timed    int64
	oldest, newest time.Time
}

func (s survey) String() string {
	if s.Rows == 0 {
		return "each row has an id"
	}
	return fmt.Sprintf("%d rows without an id, from %s to %s", s.Rows, s.oldest.UTC().Format(time.RFC3339), s.newest.UTC().Format(time.RFC3339))
}

// ahead is how far a row's time may be ahead of this machine's clock.
const ahead = time.Minute

// survey counts the rows to fill, and finds times that no id can carry.
func (t *table) survey(ctx context.Context) (s survey, err error) {
	var oldest, newest any
	err = t.retry(ctx, "count the rows of "+t.name, func(tx *gorm.DB) error {
		return tx.Raw(t.sql("SELECT COUNT(*), COUNT({time}), MIN({text}), MAX({text}) FROM {table} WHERE {column} IS NULL")).Row().Scan(&s.Rows, &s.Timed, &oldest, &newest)
	})
	switch {
	case err != nil || s.Rows == 0:
		return s, err
	case s.Timed < s.Rows:
		return s, fmt.Errorf("--time %s: it is NULL in %d of the rows without an id; set it, or give those rows ids by hand", t.time.Name, s.Rows-s.Timed)
	}
	if s.oldest, err = t.instant(oldest); err == nil {
		s.newest, err = t.instant(newest)
	}
	epoch := t.ids.Layout().Epoch
	switch {
	case err != nil:
		err = fmt.Errorf("--time %s: %w", t.time.Name, err)
	case s.oldest.Before(epoch):
		err = fmt.Errorf("--time %s: the oldest row is of %s, before the layout's epoch, %s; give older rows ids by hand, or run uidring layout change to a layout whose epoch is earlier, such as 31/20/12,epoch=%d-01-01",
			t.time.Name, s.oldest.UTC().Format(time.RFC3339), epoch.Format(time.RFC3339), s.oldest.UTC().Year())
	case time.Until(s.newest) > ahead:
		err = fmt.Errorf("--time %s: the newest row is of %s, which is in the future; correct it, or see --zone", t.time.Name, s.newest.UTC().Format(time.RFC3339))
	}
	return s, err
}

// warn says what makes the work slow.
func (t *table) warn() {
	if !slices.ContainsFunc(t.indexes, func(i index) bool {
		first, _, _ := strings.Cut(i.Columns, ",")
		return strings.EqualFold(first, t.time.Name)
	}) {
		t.notify("no index of %s begins with %s: the whole table is read for every %d rows, unless you first %s", t.name, t.time.Name, window,
			t.sql("CREATE INDEX ... ON {table} ({time}, {key})"))
	}
}
