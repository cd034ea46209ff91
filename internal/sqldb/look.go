package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

var (
	// ErrNamesake is matched when two sessions can see two tables by a name, as when the name of another
	// differs in the case of letters only.
	ErrNamesake = errors.New("two tables would serve as one")

	// ErrMemory says that the connections of a pool do not share their database, because it is in memory.
	ErrMemory = errors.New("each of its connections has an SQLite database of its own, in memory; give the pool one connection " +
		"(SetMaxOpenConns(1)), share the database (file::memory:?cache=shared), or use a file")

	// ErrMerges says that the server merges what two sessions write to a row, instead of letting one wait.
	ErrMerges = errors.New("the server is Dolt, where two sessions that write the same to a row both succeed, so that both would have " +
		"the same number; " + wantVersion)
)

// namesakes select the tables whose names differ from a table's in the case of letters at most.
// Each ? stands for the table, which may be qualified. Elsewhere the database does not tell such tables apart.
var namesakes = map[string]string{
	"mysql": "SELECT table_name AS name FROM information_schema.tables WHERE @@lower_case_table_names = 0 " +
		"AND LOWER(table_name) = LOWER(SUBSTRING_INDEX(?, '.', -1)) AND table_schema = IF(LOCATE('.', ?) > 0, SUBSTRING_INDEX(?, '.', 1), DATABASE())",
	"postgres": "SELECT relname AS name FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'f') " +
		"AND LOWER(relname) = LOWER(SUBSTRING(? FROM '[^.]*$')) AND nspname = ANY (CASE WHEN STRPOS(?, '.') > 0 " +
		"THEN ARRAY[CAST(LOWER(SPLIT_PART(?, '.', 1)) AS NAME)] ELSE current_schemas(false) END)",
}

// Look returns nil if a table can be read, is the only one with its name in whatever letters, and is the same for all sessions.
// It reads the table, because other statements find the table by the same rules: search path, case of
// letters, rights. If Missing recognizes the error, no table has the name in any letters.
func Look(ctx context.Context, db *gorm.DB, table, column string) error {
	if err := merges(ctx, db); err != nil {
		return err
	}
	kind := KindOf(db.Name())
	query := "SELECT " + column + " FROM " + db.Statement.Quote(kind.Fold(table)) + " WHERE 1 = 0"
	catalog := namesakes[db.Name()]
	if catalog != "" {
		query = catalog + " AND NOT EXISTS (" + query + ")"
	}
	names, err := queryTexts(ctx, db, query, table)
	missing := err
	switch {
	case kind.Missing(err) && catalog != "":
		if names, err = queryTexts(ctx, db, catalog, table); err == nil {
			err = hidden(ctx, db, table)
		}
	case err == nil:
		err = scattered(ctx, db)
	}
	if err == nil && (missing == nil || db.Name() == "postgres") { // where it may become a temporary table
		err = apart(ctx, db, table)
	}
	if err != nil {
		return err
	}
	own := kind.Fold(table[strings.LastIndexByte(table, '.')+1:])
	for _, name := range names {
		if name != own {
			return namesake(db, own, name, missing == nil)
		}
	}
	return missing
}

// namesake is the error for a table beside own, which is there or is not.
func namesake(db *gorm.DB, own, name string, there bool) error {
	quote := func(name string) string { return db.Statement.Quote(name) }
	rename := "ALTER TABLE " + quote(name) + " RENAME TO "
	if db.Name() == "mysql" {
		rename = "RENAME TABLE " + quote(name) + " TO "
	}
	if there {
		return fmt.Errorf("%w: there are both %s and %s; name another in the config (Table or Prefix), or rename the unused one, such as: %s%s",
			ErrNamesake, own, name, rename, quote(name+"_old"))
	}
	return fmt.Errorf("%w: there is no %s, only %s; name another in the config (Table or Prefix), or rename it: %s%s", ErrNamesake, own, name, rename, quote(own))
}

func queryTexts(ctx context.Context, db *gorm.DB, query, table string) (texts []string, err error) {
	err = within(ctx, db, func(tx *gorm.DB) error { return about(tx, query, table).Scan(&texts).Error })
	return texts, err
}

// within runs a query alone, or in a savepoint of the caller's transaction, which goes on if the query fails.
func within(ctx context.Context, db *gorm.DB, read func(tx *gorm.DB) error) error {
	if InTransaction(db) {
		return Transaction(ctx, db, read)
	}
	return Alone(ctx, db, read)
}

// merges returns ErrMerges if the server merges transactions: of two that add 1 to the same 5, both commit a 6.
func merges(ctx context.Context, db *gorm.DB) error {
	if db.Name() != "mysql" {
		return nil
	}
	comment, err := queryTexts(ctx, db, "SELECT @@version_comment", "")
	switch {
	case ctx.Err() != nil || KindOf(db.Name()).Transient(err):
		return err
	case len(comment) == 1 && strings.HasPrefix(comment[0], "Dolt"):
		return ErrMerges
	}
	return nil
}

// scattered returns ErrMemory if a second connection does not see the tables of the first.
func scattered(ctx context.Context, db *gorm.DB) (err error) {
	if db.Name() != "sqlite" || InTransaction(db) {
		return nil
	}
	pool, none := db.DB()
	if none != nil || pool.Stats().MaxOpenConnections == 1 {
		return nil // connections of the app's own making, or one
	}
	var conns [2]*sql.Conn
	var tables [3]string // their names, as the first, the second and the first connection sees them
	for {
		for i := range tables {
			if i < len(conns) && conns[i] == nil {
				if conns[i], err = pool.Conn(ctx); err != nil {
					return err
				}
				defer func() { _ = conns[i].Close() }()
			}
			var file sql.NullString
			query := "SELECT file, (SELECT COALESCE(GROUP_CONCAT(name), '') FROM sqlite_master) FROM pragma_database_list WHERE name = 'main'"
			if err := conns[i%2].QueryRowContext(ctx, query).Scan(&file, &tables[i]); err != nil || file.String != "" {
				return err
			}
		}
		switch {
		case tables[1] == tables[0], tables[1] == tables[2]:
			return nil
		case tables[0] == tables[2]: // nobody creates a table meanwhile
			_ = conns[1].Raw(func(any) error { return driver.ErrBadConn }) // which closes it
			return ErrMemory
		}
	}
}
