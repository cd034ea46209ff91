package uidgorm

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	gormmigrator "gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// sqliteDialector declares keys of the plugin so that SQLite refuses a row without one. In
// a BIGINT it would store NULL, and in an INTEGER a number of its own.
type sqliteDialector struct {
	gorm.Dialector
	plugin *Plugin
}

func (d sqliteDialector) Migrator(db *gorm.DB) gorm.Migrator {
	return sqliteMigrator{d.Dialector.Migrator(db), d.plugin}
}

// Translate implements gorm.ErrorTranslator.
func (d sqliteDialector) Translate(err error) error {
	if translator, ok := d.Dialector.(gorm.ErrorTranslator); ok {
		return translator.Translate(err)
	}
	return err
}

// SavePoint implements gorm.SavePointerDialectorInterface, with RollbackTo.
func (d sqliteDialector) SavePoint(tx *gorm.DB, name string) error {
	if savepoints, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return savepoints.SavePoint(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d sqliteDialector) RollbackTo(tx *gorm.DB, name string) error {
	if savepoints, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return savepoints.RollbackTo(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

type sqliteMigrator struct {
	gorm.Migrator
	plugin *Plugin
}

// FullDataTypeOf adds NOT NULL to keys, and makes an INTEGER a BIGINT.
func (m sqliteMigrator) FullDataTypeOf(field *schema.Field) clause.Expr {
	expr := m.Migrator.FullDataTypeOf(field)
	k, err := m.plugin.find(field.Schema)
	if err != nil || k == nil || k.field != field || !k.primary() {
		return expr
	}
	if kind, rest, _ := strings.Cut(expr.SQL, " "); strings.EqualFold(kind, "integer") {
		expr.SQL = strings.TrimSpace("bigint " + rest)
	}
	if !field.NotNull {
		expr.SQL += " NOT NULL"
	}
	return expr
}

// BuildIndexOptions is what GORM's migrator asks its own methods for.
func (m sqliteMigrator) BuildIndexOptions(options []schema.IndexOption, stmt *gorm.Statement) []any {
	return m.Migrator.(gormmigrator.BuildIndexOptionsInterface).BuildIndexOptions(options, stmt)
}
