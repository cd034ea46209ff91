package sqldb

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"gorm.io/gorm"
)

// Denied adds the rights that are missing to an error about a right, unless it names some. Any other error it
// returns as it is.
func Denied(db *gorm.DB, err error, grants ...string) error {
	if !KindOf(db.Name()).Denied(err) || errors.As(err, new(*deniedError)) {
		return err
	}
	return &deniedError{err, grants}
}

type deniedError struct {
	error
	grants []string
}

func (e *deniedError) Error() string {
	return e.error.Error() + "; the user needs GRANT " + strings.Join(e.grants, " and GRANT ") + ": uidring schema prints the tables and all privileges"
}

func (e *deniedError) Unwrap() error { return e.error }

// searched selects the schemas of PostgreSQL's search path that exist, the first one first, also those that the user may
// not use, which PostgreSQL passes over.
const searched = "SELECT n.oid, n.nspname, o FROM UNNEST(STRING_TO_ARRAY(REPLACE(CURRENT_SETTING('search_path'), '\"', ''), ',')) WITH ORDINALITY AS path(name, o) " +
	"JOIN pg_namespace n ON n.nspname = REPLACE(TRIM(name), '$user', CURRENT_USER)"

// hidden returns the error of PostgreSQL for a table in a schema that the user may not use, or nil if there is none. For
// statements without the schema's name, such a table is missing.
func hidden(ctx context.Context, db *gorm.DB, table string) error {
	if db.Name() != "postgres" || strings.Contains(table, ".") {
		return nil
	}
	names, err := queryTexts(ctx, db, "SELECT QUOTE_IDENT(nspname) FROM ("+searched+") s JOIN pg_class c ON c.relnamespace = s.oid "+
		"WHERE relname = LOWER(?) AND NOT HAS_SCHEMA_PRIVILEGE(s.oid, 'USAGE') ORDER BY o", table)
	for _, schema := range names {
		_, err := queryTexts(ctx, db, "SELECT 1 FROM "+schema+"."+db.Statement.Quote(strings.ToLower(table)), table)
		return Denied(db, err, "USAGE ON SCHEMA "+schema)
	}
	return err
}

// CreateGrants returns the further rights that the user needs if a start has to create a table: on
// PostgreSQL a right on the schema, which is the one in the table's name, otherwise schema,
// otherwise public.
func CreateGrants(db *gorm.DB, table, schema string) []string {
	if db == nil || db.Name() != "postgres" {
		return []string{"CREATE ON TABLE " + table}
	}
	if own, _, qualified := strings.Cut(table, "."); qualified {
		schema = own
	}
	return []string{"CREATE ON SCHEMA " + cmp.Or(schema, "public")}
}

// CreateSchema returns the schema in which PostgreSQL creates a table without a schema in its name, or would if
// the user could use it; "" is not known.
func CreateSchema(ctx context.Context, db *gorm.DB) string {
	names, err := queryTexts(ctx, db, "SELECT QUOTE_IDENT(COALESCE(CURRENT_SCHEMA(), (SELECT nspname FROM ("+searched+") s ORDER BY o LIMIT 1)))", "")
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}
