package sqldb

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"gorm.io/gorm"
)

// aparts select why two sessions can see different tables, or different rows, under one name. {quoted} is the name as
// statements have it, in a text; {schema} and {name} are its parts. The schema may be empty.
var aparts = map[string]string{
	// The first schema is where a statement would create the table. Whoever has other rights or another name finds another
	// of several tables. Row security and views can show each user other rows.
	"postgres": "WITH t AS (SELECT c.*, nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = to_regclass({quoted})), " +
		"all_rows AS (SELECT polcmd FROM t JOIN pg_policy ON polrelid = t.oid WHERE polpermissive AND pg_get_expr(polqual, polrelid) = 'true' " +
		"AND EXISTS (SELECT 1 FROM UNNEST(polroles) r WHERE r = 0 OR pg_has_role(r, 'MEMBER'))) " +
		"SELECT 'it is a temporary table in ' || nspname || ', which this session alone sees' FROM t WHERE relpersistence = 't' " +
		"UNION ALL SELECT 'it would become a temporary table in ' || current_schema() || ', which this session alone sees' " +
		"WHERE to_regclass({quoted}) IS NULL AND (CASE {schema} WHEN '' THEN current_schema() ELSE {schema} END) LIKE 'pg\\_temp%' " +
		"UNION ALL SELECT 'there are several, in the schemas ' || STRING_AGG(DISTINCT QUOTE_IDENT(s.nspname), ', ') FROM (" + searched + ") s " +
		"JOIN pg_class c ON c.relnamespace = s.oid WHERE {schema} = '' AND relname = {name} AND relkind IN ('r', 'p', 'v', 'm', 'f') HAVING COUNT(DISTINCT s.oid) > 1 " +
		"UNION ALL SELECT 'row security shows each user other rows; want a policy USING (true), or a user with BYPASSRLS' FROM t WHERE row_security_active(t.oid) " +
		"AND ((SELECT COUNT(DISTINCT p) FROM all_rows, UNNEST(CASE polcmd WHEN '*' THEN ARRAY['r', 'w'] ELSE ARRAY[CAST(polcmd AS TEXT)] END) p WHERE p IN ('r', 'w')) < 2 " +
		"OR EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = t.oid AND NOT polpermissive)) " +
		"UNION ALL SELECT 'it has the rule ' || QUOTE_IDENT(rulename) || ', which can write elsewhere' FROM t JOIN pg_rewrite ON ev_class = t.oid WHERE relkind <> 'v' AND ev_type <> '1' " +
		"UNION ALL SELECT 'tables inherit from it, whose rows have keys of their own' FROM t WHERE relkind = 'r' AND EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = t.oid) " +
		"UNION ALL SELECT 'it is a view, which shows each session other rows' FROM t WHERE relkind = 'v' AND pg_get_viewdef(t.oid) ~ " +
		"'CURRENT_USER|SESSION_USER|CURRENT_ROLE|CURRENT_SCHEMA|\\mUSER\\M|current_setting|pg_backend_pid|has_\\w+_privilege|pg_has_role'",
	"sqlite": "SELECT 'it is a temporary table, which this connection alone sees' FROM pragma_table_list WHERE schema = 'temp' AND name = {name} COLLATE NOCASE " +
		"AND LOWER({schema}) IN ('', 'temp') " +
		"UNION ALL SELECT 'its database is in memory, and of this connection alone' FROM pragma_database_list WHERE name = {schema} COLLATE NOCASE AND file = '' AND name NOT IN ('main', 'temp') " +
		"UNION ALL SELECT 'it is in the attached database ' || schema || ' alone; connections without it find none' FROM pragma_table_list t WHERE {schema} = '' AND name = {name} COLLATE NOCASE " +
		"AND schema NOT IN ('main', 'temp') AND NOT EXISTS (SELECT 1 FROM sqlite_master m WHERE m.name = t.name COLLATE NOCASE)",
}

// inMySQL matches the definition of a view that shows each session other rows.
var inMySQL = regexp.MustCompile(`(?i)\b(current_user|session_user|system_user|user|current_role|connection_id|database|schema|is_used_lock)\b *\(|@`)

// apart returns an error if two sessions can see two tables by the same name, or other rows of one: each would count by
// itself. Errors about the question are left out: not every server of a kind can be asked.
func apart(ctx context.Context, db *gorm.DB, table string) error {
	var whys []string
	var err error
	switch query := aparts[db.Name()]; {
	case db.Name() == "mysql":
		whys, err = apartInMySQL(ctx, db, table)
	case query != "":
		folded := KindOf(db.Name()).Fold(table)
		schema, name, qualified := strings.Cut(folded, ".")
		if !qualified {
			schema, name = "", folded
		}
		literal := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
		query = strings.NewReplacer("{quoted}", literal(db.Statement.Quote(folded)), "{schema}", literal(schema), "{name}", literal(name)).Replace(query)
		err = within(ctx, db, func(tx *gorm.DB) error { return tx.Raw(query).Scan(&whys).Error })
	}
	switch {
	case ctx.Err() != nil || KindOf(db.Name()).Transient(err):
		return err
	case len(whys) == 0:
		return nil
	}
	where := ""
	if path, err := queryTexts(ctx, db, "SELECT CURRENT_SETTING('search_path')", ""); db.Name() == "postgres" && err == nil && len(path) > 0 {
		where = "; search_path is " + path[0]
	}
	return fmt.Errorf("%w: %s of this session and of others may be two: %s%s; name one that all sessions see in the config (Table), with its schema",
		ErrNamesake, table, strings.Join(whys, "; "), where)
}

// apartInMySQL reads the table's definition. The catalog does not show temporary tables.
func apartInMySQL(ctx context.Context, db *gorm.DB, table string) ([]string, error) {
	var shown map[string]any // "Create Table" or "Create View", and columns beside it
	err := within(ctx, db, func(tx *gorm.DB) error {
		return tx.Raw("SHOW CREATE TABLE " + db.Statement.Quote(table)).Scan(&shown).Error
	})
	definition, _ := shown["Create Table"].(string)
	view, _ := shown["Create View"].(string)
	_, view, _ = strings.Cut(view, " VIEW ")
	switch {
	case strings.HasPrefix(definition, "CREATE TEMPORARY"):
		return []string{"it is a temporary table, which this session alone sees"}, err
	case inMySQL.MatchString(view):
		return []string{"it is a view, which shows each session other rows"}, err
	}
	return nil, err
}
