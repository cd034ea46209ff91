package sqldb

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"
)

type setting struct {
	name   string
	query  string   // selects its value; each ? stands for the table
	unsafe []string // values with which a crash forgets commits
}

// engine selects the engine of a table, which may be qualified. MySQL takes a name as it
// is written.
const engine = "SELECT engine AS value FROM information_schema.tables WHERE table_name = SUBSTRING_INDEX(?, '.', -1) " +
	"AND table_schema = IF(LOCATE('.', ?) > 0, SUBSTRING_INDEX(?, '.', 1), DATABASE())"

// flushes are the settings by which a commit reaches the disk before it is answered.
var flushes = map[string][]setting{
	"mysql": {
		{"innodb_flush_log_at_trx_commit", "SELECT @@innodb_flush_log_at_trx_commit AS value", []string{"0", "2"}},
		{"engine", engine, []string{"MyISAM", "MEMORY"}},
	},
	"postgres": {
		{"synchronous_commit", "SELECT current_setting('synchronous_commit') AS value", []string{"off"}},
		{"fsync", "SELECT current_setting('fsync') AS value", []string{"off"}},
		// to_regclass folds a name without quotes, as statements do.
		{"table", "SELECT CASE relpersistence WHEN 'u' THEN 'UNLOGGED' ELSE '' END AS value FROM pg_class WHERE oid = to_regclass(?)", []string{"UNLOGGED"}},
	},
	"sqlite": {
		// In WAL mode NORMAL, which is 1, does not flush either.
		{"synchronous", "SELECT CASE WHEN journal_mode = 'wal' AND synchronous = 1 THEN 'NORMAL in WAL mode' ELSE synchronous END AS value " +
			"FROM pragma_synchronous, pragma_journal_mode", []string{"0", "NORMAL in WAL mode"}},
	},
}

// WarnFlush logs if the database confirms commits to table before they are on the disk:
// after a crash, the server can then give again what it gave before. pkg begins the
// message. The error is one that is transient or of ctx; any other, of a server without the setting, is ignored.
func WarnFlush(ctx context.Context, db *gorm.DB, log *slog.Logger, pkg, table string) error {
	for _, s := range flushes[db.Name()] {
		var value string
		err := Alone(ctx, db, func(tx *gorm.DB) (err error) { value, err = queryText(tx, s.query, table); return err })
		if ctx.Err() != nil || KindOf(db.Name()).Transient(err) {
			return err
		}
		if err == nil && slices.Contains(s.unsafe, value) {
			log.WarnContext(ctx, pkg+": the database confirms commits before they are on the disk; after a crash of the server, numbers and ids can repeat",
				"table", table, "setting", s.name, "value", value)
		}
	}
	return nil
}

// Engine returns the engine of a table of MySQL or MariaDB, or "" if it is not known.
func Engine(db *gorm.DB, table string) (string, error) {
	if db.Name() != "mysql" {
		return "", nil
	}
	return queryText(db, engine, table)
}

func queryText(db *gorm.DB, query, table string) (value string, err error) {
	err = about(db, query, table).Scan(&value).Error
	return value, err
}

// about is a query about a table, whose name is in place of each ?. A plain name becomes part of the text: MySQL's driver
// makes three requests of a statement with values, of which the first prepares it.
func about(db *gorm.DB, query, table string) *gorm.DB {
	if plain.MatchString(table) {
		return db.Raw(strings.ReplaceAll(query, "?", "'"+table+"'"))
	}
	names := make([]any, strings.Count(query, "?"))
	for i := range names {
		names[i] = table
	}
	return db.Raw(query, names...)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.]*$`)
