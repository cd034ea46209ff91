package worker

import (
	"fmt"
	"log/slog"
	"regexp"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/worker/lease"
)

// An Option changes a default of a Registry. The Registry's methods report all faults
// of the options at once.
type Option interface{ apply(*Registry) }

// A TableOption is an Option about the table. NewStore takes it too.
type TableOption func(*table)

func (o TableOption) apply(r *Registry) { o(&r.table) }

type registryOption func(*Registry)

func (o registryOption) apply(r *Registry) { o(r) }

// newTable applies options.
func newTable(k kind, db *gorm.DB, opts []TableOption) table {
	t := table{kind: k, name: k.table, ensure: true}
	if db != nil && db.Config != nil && db.Statement != nil {
		// A copy, so that later changes of db have no effect.
		t.db = db.Session(&gorm.Session{SkipHooks: true, Logger: logger.Discard})
	}
	t.beside = k.others(t.name)
	for _, opt := range opts {
		opt(&t)
	}
	return t
}

// maxName is the longest name of a table that PostgreSQL does not truncate.
const maxName = 63

var namePattern = regexp.MustCompile(
	fmt.Sprintf(`^(?:[A-Za-z_][A-Za-z0-9_]{0,%d}\.)?[A-Za-z_][A-Za-z0-9_]{0,%[1]d}$`, maxName-1))

// WithTable names the table; the default is WORKER_NODE for a Registry and
// WORKER_LEASE for a Store. A name has at most 63 ASCII letters, digits and
// underscores, and does not start with a digit. A schema (in MySQL, a database)
// of the same form may qualify it: "ids.worker_node". PostgreSQL folds the name
// to lower case, so a table with capitals in its name cannot be used there.
func WithTable(name string) TableOption {
	return func(t *table) {
		if !namePattern.MatchString(name) {
			t.faults = append(t.faults, fmt.Errorf("worker: WithTable: %q is not a table name: want letters, digits "+
				"and underscores, no digit first, 1 to %d of them, optionally after a schema of the same form and a dot",
				name, maxName))
			return
		}
		t.name, t.beside = name, t.kind.others(name)
	}
}

// Beside names the table of the other kind in the same database: for a Store the
// Registry's, for a Registry the Leasers'. Their numbers then differ. The default for
// WORKER_LEASE is WORKER_NODE, and the reverse, in the same schema. After WithTable with
// another name it is "", which is none. Give "" if ids of the two tables' numbers
// never meet.
func Beside(name string) TableOption {
	return func(t *table) {
		if name != "" && !namePattern.MatchString(name) {
			t.faults = append(t.faults, fmt.Errorf("worker: Beside: %q is not a table name; see WithTable, or give \"\" for none", name))
			return
		}
		t.beside = name
	}
}

// WithoutSchema makes a start neither look for the table nor create it. Use it
// if your migrations create the table, or for a Registry on a database that
// EnsureSchema does not support.
func WithoutSchema() TableOption {
	return func(t *table) { t.ensure = false }
}

// WithNode sets the process's description in a Registry's row; the default is
// lease.DetectNode's. Host and Port have 1 to 64 characters, Type is
// lease.NodeContainer or lease.NodeActual.
func WithNode(node lease.Node) Option {
	return registryOption(func(r *Registry) {
		if err := node.Validate(); err != nil {
			r.faults = append(r.faults, err)
			return
		}
		r.detect = func() (lease.Node, error) { return node, nil }
	})
}

// WithLogger sets the logger of a Registry's warnings; nil is what slog.Default returns
// at the time of a warning.
func WithLogger(logger *slog.Logger) Option {
	return registryOption(func(r *Registry) { r.logger = logger })
}
