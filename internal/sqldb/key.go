package sqldb

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// keyless selects a row if a table has no key of one column. Each ? stands for the table, and {column} for
// the column. A view is not judged.
var keyless = map[string]string{
	"mysql": "SELECT 1 FROM (SELECT '{column}' AS key_column, SUBSTRING_INDEX(?, '.', -1) AS name, " +
		"IF(LOCATE('.', ?) > 0, SUBSTRING_INDEX(?, '.', 1), DATABASE()) AS db) wanted " +
		"JOIN information_schema.tables t ON t.table_name = wanted.name AND t.table_schema = wanted.db AND t.table_type = 'BASE TABLE' " +
		"WHERE NOT EXISTS (SELECT 1 FROM information_schema.statistics s WHERE s.table_name = wanted.name AND s.table_schema = wanted.db " +
		"GROUP BY s.index_name HAVING MAX(s.non_unique) = 0 AND COUNT(*) = 1 AND MAX(s.column_name = wanted.key_column) = 1)",
	"postgres": "SELECT 1 FROM (SELECT CAST('{column}' AS TEXT) AS key_column) wanted, pg_class t WHERE t.oid = to_regclass(?) AND t.relkind IN ('r', 'p') " +
		"AND NOT EXISTS (SELECT 1 FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0] " +
		"WHERE indrelid = t.oid AND indisunique AND indisvalid AND indpred IS NULL AND indnkeyatts = 1 AND attname = key_column)",
	"sqlite": "SELECT 1 FROM (SELECT '{column}' AS key_column) wanted, sqlite_master t WHERE t.type = 'table' AND t.name = SUBSTR(?, INSTR(?, '.') + 1) COLLATE NOCASE " +
		"AND (SELECT GROUP_CONCAT(LOWER(name)) FROM pragma_table_info(t.name) WHERE pk > 0) IS NOT key_column " +
		"AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) i WHERE i.\"unique\" AND NOT i.partial " +
		"AND (SELECT GROUP_CONCAT(LOWER(name)) FROM pragma_index_info(i.name)) = key_column)",
}

// Keyless returns the first of some tables that is sure to have no primary key or unique index of a column alone, or "". The
// tables are given with their columns.
func Keyless(ctx context.Context, db *gorm.DB, tables ...[2]string) (string, error) {
	query, known := keyless[db.Name()]
	if !known {
		return "", nil
	}
	var parts []string
	for _, t := range tables {
		if !plain.MatchString(t[0]) { // so that no name has to be quoted
			return "", fmt.Errorf("table %q: want a plain name", t[0])
		}
		part := strings.Replace(query, "SELECT 1 FROM", "SELECT ? AS keyless FROM", 1)
		parts = append(parts, strings.NewReplacer("{column}", t[1], "?", "'"+t[0]+"'").Replace(part))
	}
	var found []string
	err := Alone(ctx, db, func(tx *gorm.DB) error { return tx.Raw(strings.Join(parts, " UNION ALL ")).Scan(&found).Error })
	return append(found, "")[0], err
}
