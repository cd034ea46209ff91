package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Registry gives each start a number of its own from a database table. It is
// uid-generator's DisposableWorkerIdAssigner; the package comment tells the
// protocol. Make one with NewRegistry. It holds no connection, starts no
// goroutine, needs no closing, and is safe for concurrent use.
type Registry struct{ table }

// NewRegistry returns a Registry that registers in the table WORKER_NODE of
// db. It does not touch the database; whatever is wrong with db or the options
// is reported by the methods, all at once.
//
// Of db only the connections that it was opened with are used. With replicas,
// those must be the primary's.
func NewRegistry(db *gorm.DB, opts ...Option) *Registry {
	return &Registry{newSettings(registryKind, db, opts).table}
}

// entry is a row to insert. Column names are lower case for PostgreSQL; the
// other databases do not care.
type entry struct {
	ID         int64    `gorm:"column:id;primaryKey;autoIncrement"`
	HostName   string   `gorm:"column:host_name"`
	Port       string   `gorm:"column:port"`
	Type       NodeType `gorm:"column:type"`
	LaunchDate sqlExpr  `gorm:"column:launch_date"`
	Modified   sqlExpr  `gorm:"column:modified"`
	Created    sqlExpr  `gorm:"column:created"`
}

// sqlExpr is a value that the database works out, by its own clock.
type sqlExpr string

// GormValue implements gorm.Valuer.
func (e sqlExpr) GormValue(context.Context, *gorm.DB) clause.Expr { return clause.Expr{SQL: string(e)} }

// Assign inserts one row into the table and returns its key, the worker number
// of this start: 1 to max, never given before. max is the largest number that
// the layout allows. Every call that succeeds uses up one number for good, so
// call it once for each generator. It waits for the database as long as ctx
// allows: give ctx a deadline.
//
// Errors: an ExhaustedError (ErrExhausted) for a number above max; ErrDB for a
// *gorm.DB that is nil, inside a transaction or in dry-run mode; ErrKey if the
// database's key cannot be trusted; what is wrong with options, with max or with
// the environment (see DetectNode); or the driver's error, wrapped with what was
// being done and the table. With an error the number is 0, and no process uses
// the number that may have been counted.
//
// When ctx ends, Assign returns with an error that matches ctx.Err(): at once,
// except that SQLite's drivers, when another process is writing, first wait out
// their busy timeout.
func (r *Registry) Assign(ctx context.Context, max int64) (number int64, err error) {
	e, err := r.register(ctx, max)
	return e.number, err
}

// evidence is what one start wrote: how its row is told from every other.
type evidence struct {
	number  int64
	node    Node
	created time.Time // by the database's clock
}

func (r *Registry) register(ctx context.Context, max int64) (evidence, error) {
	faults := []error{r.check()}
	if max < 0 {
		faults = append(faults, fmt.Errorf("worker: max %d: want 0 or more", max))
	}
	node, err := r.detect()
	if err := errors.Join(append(faults, err)...); err != nil {
		return evidence{}, err
	}
	if err := ctx.Err(); err != nil {
		return evidence{}, r.fail(ctx, "register in", err)
	}
	if r.ensure {
		if err := r.ensureSchema(ctx); err != nil {
			return evidence{}, err
		}
	}

	before := r.now()
	number, err := r.insert(ctx, node, max)
	if err != nil {
		return evidence{}, r.fail(ctx, "register in", err)
	}
	created, err := r.confirm(ctx, number, node)
	if err != nil {
		return evidence{}, r.fail(ctx, fmt.Sprintf("read back number %d from", number), err)
	}

	r.warnClock(ctx, before, created, r.now())
	r.warnUsedUp(ctx, number, max)
	r.warnStep(ctx)
	return evidence{number, node, created}, nil
}

// insert commits a row and returns its key. Whatever is wrong with the key
// rolls the row back.
func (r *Registry) insert(ctx context.Context, node Node, max int64) (int64, error) {
	row := entry{
		HostName:   node.Host,
		Port:       node.Port,
		Type:       node.Type,
		LaunchDate: "CURRENT_DATE",
		Modified:   "CURRENT_TIMESTAMP",
		Created:    "CURRENT_TIMESTAMP",
	}
	err := r.primary(ctx, func(tx *gorm.DB) error {
		result := tx.Clauses(clause.Insert{Table: clause.Table{Name: r.fold(r.name)}}).Create(&row)
		switch {
		case result.Error != nil:
			return result.Error
		case result.RowsAffected != 1:
			return fmt.Errorf("%w: %d rows were inserted, want 1", ErrKey, result.RowsAffected)
		case row.ID <= 0:
			return fmt.Errorf("%w: the key is %d, want 1 or more; is the table's key auto-increment?", ErrKey, row.ID)
		case row.ID > max:
			return &ExhaustedError{Number: row.ID, Max: max, Table: r.name}
		}
		return nil
	})
	return row.ID, err
}

// confirm reads the committed row by its key, checks that it is the one that
// this call wrote, and returns when the database says it was created.
func (r *Registry) confirm(ctx context.Context, number int64, wrote Node) (created time.Time, err error) {
	var rows []record
	err = r.primary(ctx, func(tx *gorm.DB) error {
		return tx.Raw(r.selectRows()+" WHERE id = ?", number).Scan(&rows).Error
	})
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%w: %d rows have it, want 1", ErrKey, len(rows))
	}
	if read := (Node{rows[0].HostName, rows[0].Port, rows[0].Type}); read != wrote {
		return time.Time{}, fmt.Errorf("%w: its row says %+v, want %+v", ErrKey, read, wrote)
	}
	return moment(rows[0].Created), nil
}

// EnsureSchema creates the table if it is missing. Assign calls it unless
// WithoutSchema was given. It looks for the table first, so that an existing
// table takes no right to create one, and creates it only if the database says
// that it is not there: a second table, in another schema of the search path,
// would count from 1 again. Since several starters race, it looks again when
// creating fails. It does not alter a table that is there.
//
// On a database other than MySQL, PostgreSQL and SQLite it can only look: the
// error, which matches ErrDialect, names the kind of database.
func (r *Registry) EnsureSchema(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	return r.ensureSchema(ctx)
}
