package worker

import (
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
	// Prefix is written before the names of both tables, WORKER_NODE and WORKER_LEASE: a schema (in
	// MySQL, a database) and a dot, such as "ids.", or the beginning of the names, such as "orders_",
	// or both. Generators with different prefixes take the same numbers, so their ids must never
	// share a column. A prefix consists of ASCII letters, digits and underscores; on PostgreSQL, it is
	// folded to lower case. Generators fail to start if the name of another table differs only in
	// case.
	Prefix string

	// NoSchema stops the Store from creating the tables. Set it if your migrations create them,
	// with the statements that Schema returns and "uidring schema" prints.
	NoSchema bool
}

// RegistryConfig configures a [Registry]. Zero fields and invalid fields are treated as in
// [StoreConfig].
type RegistryConfig struct {
	// Prefix means the same as in [StoreConfig]. Registries and Leasers whose ids share a column need
	// the same Prefix.
	Prefix string

	// NoSchema stops the Registry from creating WORKER_NODE.
	NoSchema bool

	// Node describes this process in the row that the Registry inserts. The zero Node means the one
	// that lease.DetectNode returns.
	Node lease.Node

	// Logger receives warnings; nil means slog.Default at the time of the warning.
	Logger *slog.Logger
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c StoreConfig) Validate() error { return c.faults().Err() }

func (c StoreConfig) faults() *invalid.List {
	faults := invalid.Of("worker")
	if !prefixPattern.MatchString(c.Prefix) {
		faults.Add("Prefix", strconv.Quote(c.Prefix), "a schema and a dot (ids.), the beginning of a table's name (orders_), or both: "+
			"up to 63 and 51 letters, digits and underscores, no digit first")
	}
	return faults
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c RegistryConfig) Validate() error {
	faults := c.store().faults()
	if c.Node != (lease.Node{}) {
		faults.Join(lease.Config{Node: c.Node}.Validate())
	}
	return faults.Err()
}

func (c RegistryConfig) store() StoreConfig { return StoreConfig{c.Prefix, c.NoSchema} }

func (c RegistryConfig) node() (lease.Node, error) {
	if c.Node != (lease.Node{}) {
		return c.Node, nil
	}
	return lease.DetectNode()
}

// prefixPattern leaves names of up to 63 characters: PostgreSQL truncates longer ones.
var prefixPattern = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]{0,62}\.)?(?:[A-Za-z_][A-Za-z0-9_]{0,50})?$`)

// newTables returns the table of leases of a config, which has that of keys.
func newTables(db *gorm.DB, c StoreConfig, faults error) (leases *table) {
	if db != nil && db.Config != nil && db.Statement != nil {
		db = db.Session(&gorm.Session{}) // a copy, so that later changes of db have no effect
	} else {
		db = nil
	}
	nodes := &table{kind: nodeKind, db: db, name: c.Prefix + nodeKind.table, ensure: !c.NoSchema, faults: faults}
	return &table{kind: leaseKind, db: db, name: c.Prefix + leaseKind.table, ensure: !c.NoSchema, faults: faults, nodes: nodes}
}
