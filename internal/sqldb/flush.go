package sqldb

import (
	"context"
	"log/slog"
	"regexp"
	"strings"

	"gorm.io/gorm"
)

// Engine and table_name of a table of MySQL, which may be qualified. MySQL takes a name as it is written.
const ofTable = "FROM information_schema.tables WHERE table_name = SUBSTRING_INDEX(?, '.', -1) " +
	"AND table_schema = IF(LOCATE('.', ?) > 0, SUBSTRING_INDEX(?, '.', 1), DATABASE())"

// risks select the settings with which a crash can undo commits that the database has confirmed, with their values. They also
// select the version of a server that is older than wantVersion says. Each ? stands for the table. On a server without one of
// the settings, the query fails and selects nothing.
var risks = map[string][]string{
	"mysql": {
		// With a binary log, InnoDB leaves it to the log which of the prepared transactions a recovery commits.
		"SELECT 'innodb_flush_log_at_trx_commit' AS setting, @@innodb_flush_log_at_trx_commit AS value FROM DUAL WHERE @@innodb_flush_log_at_trx_commit IN (0, 2) " +
			"UNION ALL SELECT 'sync_binlog', @@sync_binlog FROM DUAL WHERE @@log_bin AND @@sync_binlog <> 1 " +
			"UNION ALL SELECT 'engine', CONCAT(engine, IF(engine = 'Aria', ' without TRANSACTIONAL', '')) " + ofTable +
			" AND (engine NOT IN ('InnoDB', 'ROCKSDB', 'Aria') OR create_options LIKE '%transactional=0%') " +
			"UNION ALL SELECT 'version', VERSION() FROM DUAL WHERE VERSION() REGEXP IF(VERSION() LIKE '%MariaDB%', '^([1-9]|10[.][0-4])[.]', '^[1-7][.]')",
		"SELECT 'innodb_flush_method' AS setting, @@innodb_flush_method AS value FROM DUAL WHERE @@innodb_flush_method IN ('nosync', 'littlesync')",
	},
	"postgres": {
		// Without full_page_writes, recovery skips a page of which only the newer half was written. Checksums find such a page.
		"WITH RECURSIVE s AS (SELECT name, setting AS value FROM pg_settings), " +
			"parts(oid) AS (SELECT CAST(to_regclass(?) AS OID) UNION SELECT inhrelid FROM pg_inherits, parts WHERE inhparent = parts.oid) " +
			"SELECT name AS setting, value FROM s WHERE name IN ('fsync', 'synchronous_commit') AND value = 'off' " +
			"OR name = 'synchronous_commit' AND value = 'local' AND EXISTS (SELECT 1 FROM s WHERE name = 'synchronous_standby_names' AND value <> '') " +
			"OR name = 'full_page_writes' AND value = 'off' AND EXISTS (SELECT 1 FROM s WHERE name = 'data_checksums' AND value = 'off') " +
			"OR name = 'server_version' AND value ~ '^([1-9]|1[0-2])[.]' " +
			"UNION ALL (SELECT CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, 'UNLOGGED' FROM pg_class c WHERE relpersistence = 'u' " +
			"AND (oid IN (SELECT oid FROM parts) OR relkind = 'S' AND EXISTS (SELECT 1 FROM pg_depend JOIN parts ON refobjid = parts.oid " +
			"WHERE objid = c.oid AND classid = CAST('pg_class' AS REGCLASS) AND refobjsubid > 0)) ORDER BY relkind DESC LIMIT 1)",
	},
	"sqlite": {
		"SELECT 'synchronous' AS setting, CASE synchronous WHEN 1 THEN 'NORMAL in WAL mode' ELSE synchronous END AS value " +
			"FROM pragma_synchronous, pragma_journal_mode WHERE synchronous = 0 OR synchronous = 1 AND journal_mode = 'wal' " +
			"UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode, pragma_database_list " +
			"WHERE name = 'main' AND file <> '' AND journal_mode IN ('memory', 'off')",
	},
}

const wantVersion = "want MySQL 8.0, MariaDB 10.5, PostgreSQL 13 or later"

// WarnFlush logs each setting with which a crash of the database can undo confirmed commits to table. The table can then
// give again what it gave before. pkg begins the message. The error is one that is transient or of ctx; any other, of
// a server without the setting, is ignored.
func WarnFlush(ctx context.Context, db *gorm.DB, log *slog.Logger, pkg, table string) error {
	for _, query := range risks[db.Name()] {
		var found []struct{ Setting, Value string }
		err := Alone(ctx, db, func(tx *gorm.DB) error { return about(tx, query, table).Scan(&found).Error })
		if ctx.Err() != nil || KindOf(db.Name()).Transient(err) {
			return err
		}
		for _, s := range found {
			if strings.HasSuffix(s.Setting, "version") {
				log.WarnContext(ctx, pkg+": the server is too old; "+wantVersion, "version", s.Value)
				continue
			}
			log.WarnContext(ctx, pkg+": a crash of the database can undo commits that it has confirmed; numbers and ids can then repeat",
				"table", table, "setting", s.Setting, "value", s.Value)
		}
	}
	return nil
}

// Engine returns the engine of a table of MySQL or MariaDB, or "" if it is not known.
func Engine(db *gorm.DB, table string) (engine string, err error) {
	if db.Name() == "mysql" {
		err = about(db, "SELECT engine AS value "+ofTable, table).Scan(&engine).Error
	}
	return engine, err
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
