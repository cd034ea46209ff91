package worker

import (
	"cmp"
	"log/slog"
	"regexp"
	"strconv"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease"
)

// StoreConfig configures a [Store]. Zero fields take their default values. A single error, which
// matches [lease.ErrConfig], names every invalid field with its value and the allowed values.
type StoreConfig struct {
	// Table is the name of the table; empty means WORKER_LEASE. A name has at most 63 ASCII letters,
	// digits and underscores, and does not start with a digit. A schema name (in MySQL, a database
	// name) of the same form may qualify it: "ids.worker_lease". On PostgreSQL, the name is folded
	// to lower case, so a table that was created with capitals in a quoted name cannot be used.
	// Generators fail to start if another table's name differs only in case.
	Table string

	// RegistryTable names the Registry's table in the same database. The two tables then give out
	// different numbers. If Table is WORKER_LEASE, an empty RegistryTable means WORKER_NODE in the
	// same schema; otherwise, it means no table.
	RegistryTable string

	// NoOtherTable says that there is no second table, or that ids with numbers from the two tables
	// never share a column. Generators fail to start (ErrMixed) if a Registry has already been used
	// with this table.
	NoOtherTable bool

	// NoSchema stops the Store from creating the table. Set it if your migrations create the
	// table, with the statement that Schema returns and "uidring schema" prints.
	NoSchema bool
}

// RegistryConfig configures a [Registry]. Zero fields and invalid fields are treated as in
// [StoreConfig].
type RegistryConfig struct {
	// Table is the name of the table, in the same form as in [StoreConfig]; empty means
	// WORKER_NODE.
	Table string

	// LeaseTable is the name of the Leasers' table, and NoOtherTable means the same as in
	// [StoreConfig]. If Table is WORKER_NODE, an empty LeaseTable means WORKER_LEASE in the same
	// schema; otherwise, it means no table.
	LeaseTable   string
	NoOtherTable bool

	// NoSchema means the same as in [StoreConfig].
	NoSchema bool

	// Node describes this process in the row that the Registry inserts. The zero Node means the one
	// that lease.DetectNode returns.
	Node lease.Node

	// Logger receives warnings; nil means slog.Default at the time of the warning.
	Logger *slog.Logger
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c StoreConfig) Validate() error { return c.faults("RegistryTable").Err() }

// faults returns the faults of a config that names the other table in the field other.
func (c StoreConfig) faults(other string) *invalid.List {
	faults := invalid.Of("worker", lease.ErrConfig)
	for _, field := range []struct{ name, value string }{{"Table", c.Table}, {other, c.RegistryTable}} {
		if field.value != "" && !namePattern.MatchString(field.value) {
			faults.Add(field.name, strconv.Quote(field.value), "a table's name: 1 to 63 letters, digits and underscores, "+
				"no digit first, optionally after a schema of the same form and a dot")
		}
	}
	if c.NoOtherTable && c.RegistryTable != "" {
		faults.Add(other, strconv.Quote(c.RegistryTable), "none, since NoOtherTable is set")
	}
	return faults
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c RegistryConfig) Validate() error {
	faults := c.store().faults("LeaseTable")
	if c.Node != (lease.Node{}) {
		faults.Join(c.Node.Validate())
	}
	return faults.Err()
}

func (c RegistryConfig) store() StoreConfig {
	return StoreConfig{c.Table, c.LeaseTable, c.NoOtherTable, c.NoSchema}
}

func (c RegistryConfig) node() (lease.Node, error) {
	if c.Node != (lease.Node{}) {
		return c.Node, nil
	}
	return lease.DetectNode()
}

// namePattern has names of up to 63 characters: PostgreSQL truncates longer ones.
var namePattern = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]{0,62}$`)

func newTable(k kind, db *gorm.DB, c StoreConfig, faults error) table {
	t := table{kind: k, name: cmp.Or(c.Table, k.table), ensure: !c.NoSchema, faults: faults}
	if db != nil && db.Config != nil && db.Statement != nil {
		t.db = db.Session(&gorm.Session{}) // a copy, so that later changes of db have no effect
	}
	if !c.NoOtherTable {
		t.beside = cmp.Or(c.RegistryTable, k.others(t.name))
	}
	return t
}
