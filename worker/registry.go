package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
)

// Registry gives each start a number of its own from a database table, as the package comment
// says. It needs no closing, and is safe for concurrent use.
type Registry struct {
	table
	config RegistryConfig
	now    func() time.Time // replaced by tests
}

// NewRegistry returns a Registry that registers in a table of db, without using the
// database. The methods report all faults of db and the config at once. See NewLeaser about db.
func NewRegistry(db *gorm.DB, config RegistryConfig) *Registry {
	return &Registry{newTable(nodeKind, db, config.store(), config.Validate()), config, time.Now}
}

// entry is a row to insert. Column names are lower case for PostgreSQL.
type entry struct {
	ID         int64   `gorm:"column:id;primaryKey;autoIncrement"`
	HostName   string  `gorm:"column:host_name"`
	Port       string  `gorm:"column:port"`
	Type       int     `gorm:"column:type"`
	LaunchDate sqlExpr `gorm:"column:launch_date"`
	Modified   sqlExpr `gorm:"column:modified"`
	Created    sqlExpr `gorm:"column:created"`
}

// sqlExpr is a value that the database computes by its own clock, as a gorm.Valuer.
type sqlExpr string

func (e sqlExpr) GormValue(context.Context, *gorm.DB) clause.Expr { return clause.Expr{SQL: string(e)} }

// Assign inserts a row into the table and returns its key, the worker number of this
// start: 1 to max, the largest that the layout allows, never given before. While a Leaser has
// the key, Assign inserts another row. Call it once for each generator. It waits for the
// database until ctx ends: give ctx a deadline.
//
// Errors are a lease.ExhaustedError (lease.ErrExhausted) for a number above max, and
// errors that match lease.ErrConfig, ErrDB or ErrKey. Other errors are about the
// environment (see lease.DetectNode), or wrap the driver's error with the operation and
// the table. The number is then 0, and no process ever uses a number that the database
// may have counted.
//
// When ctx ends, Assign returns at once with an error that matches ctx.Err(). Only
// SQLite's drivers first wait for their busy timeout while another process writes.
func (r *Registry) Assign(ctx context.Context, max int64) (number int64, err error) {
	e, err := r.register(ctx, lease.Request{Limit: max})
	return e.number, err
}

// evidence is what one start wrote. No other row has the same values.
type evidence struct {
	number  int64
	node    lease.Node
	created time.Time // by the database's clock
}

func (e evidence) grant() lease.Grant { return lease.Grant{Held: true, Number: e.number, Fresh: true} }

// Lease assigns a number and grants all of its time. Errors are Assign's, or match
// lease.ErrLayout (a lease.LayoutError) when the table remembers another layout.
func (r *Registry) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	e, err := r.register(ctx, request)
	if err != nil {
		return nil, err
	}
	request.Granted(e.grant())
	return registered{}, nil
}

// registered is the lease of a number that no other start gets.
type registered struct{}

func (registered) Use(_, _ time.Time) {}

func (registered) Release(context.Context, time.Time) error { return nil }

func (r *Registry) register(ctx context.Context, request lease.Request) (evidence, error) {
	max, faults := request.Limit, invalid.Of("worker", lease.ErrConfig)
	if max < 0 {
		faults.Add("max", max, "0 or more")
	}
	node, err := r.config.node()
	if err := errors.Join(r.check(), faults.Err(), err); err != nil {
		return evidence{}, err
	}
	if r.ensure {
		if err := r.EnsureSchema(ctx); err != nil {
			return evidence{}, err
		}
	}
	switch err := request.CheckLayout(ctx, r.remember); {
	case errors.Is(err, errForgets):
		r.log().WarnContext(ctx, "worker: the table cannot remember the layout, so a start with another layout is not refused", "table", r.name, "error", err)
	case err != nil:
		return evidence{}, r.fail(ctx, "compare the layout with that of", err)
	}
	before := r.now()
	number, created, err := r.insertOwn(ctx, node, max)
	if err != nil {
		return evidence{}, err
	}
	r.warnClock(ctx, before, created, r.now())
	r.warnUsedUp(ctx, number, max)
	r.warnStep(ctx)
	sqldb.WarnFlush(ctx, r.db, r.log(), "worker", r.name)
	return evidence{number, node, created}, nil
}

// insertOwn inserts rows until the key of one is no number of Leasers.
func (r *Registry) insertOwn(ctx context.Context, node lease.Node, max int64) (number int64, created time.Time, err error) {
	for {
		if number, err = r.insert(ctx, node, max); err != nil {
			return 0, created, r.fail(ctx, "register in", err)
		}
		if created, err = r.confirm(ctx, number, node); err != nil {
			return 0, created, r.fail(ctx, fmt.Sprintf("read back number %d from", number), err)
		}
		leased, err := r.leased(ctx, number)
		if err != nil {
			return 0, created, r.fail(ctx, "register in", err)
		}
		if !leased {
			return number, created, nil
		}
	}
}

// insert commits a row and returns its key, unless that cannot be a number.
func (r *Registry) insert(ctx context.Context, node lease.Node, max int64) (int64, error) {
	row := newEntry(0, node)
	err := r.primary(ctx, func(tx *gorm.DB) error {
		switch err := r.create(tx, &row); {
		case err != nil:
			return err
		case row.ID <= 0:
			return fmt.Errorf("%w: the key is %d, want 1 or more; is the table's key auto-increment?", ErrKey, row.ID)
		case row.ID > max:
			return &lease.ExhaustedError{Next: row.ID, Max: max, Store: r.name}
		}
		return nil
	})
	return row.ID, err
}

// newEntry is a row that is created now. A key of 0 is the database's next.
func newEntry(key int64, node lease.Node) entry {
	return entry{
		ID:         key,
		HostName:   node.Host,
		Port:       node.Port,
		Type:       int(node.Type),
		LaunchDate: "CURRENT_DATE",
		Modified:   "CURRENT_TIMESTAMP",
		Created:    "CURRENT_TIMESTAMP",
	}
}

func (t *table) create(tx *gorm.DB, row *entry) error {
	result := tx.Clauses(clause.Insert{Table: clause.Table{Name: t.dialect().Fold(t.name)}}).Create(row)
	if result.Error == nil && result.RowsAffected != 1 {
		return fmt.Errorf("%w: %d rows were inserted, want 1", ErrKey, result.RowsAffected)
	}
	return result.Error
}

// remember is SwapLayout of a lease.Store.
func (r *Registry) remember(ctx context.Context, old, layout string) (string, error) {
	return r.swapBoth(ctx, old, layout, func(tx *gorm.DB, text layoutText) error {
		row := newEntry(nodeLayout, lease.Node{Host: text.Host, Port: text.Port})
		err := r.create(tx, &row)
		if err == nil { // MySQL may have written another key
			var rows int64
			err = tx.Raw("SELECT COUNT(*) FROM "+r.quoted()+" WHERE id = ?", nodeLayout).Scan(&rows).Error
			if err == nil && rows == 0 {
				err = fmt.Errorf("%w: want an ID that can be %d", ErrKey, nodeLayout)
			}
		}
		if err != nil && !r.dialect().Duplicate(err) {
			err = fmt.Errorf("%w: %w", errForgets, err)
		}
		return err
	})
}

// errForgets is why a Registry's table does not remember a layout: its key admits no -1.
var errForgets = errors.New("the row of the layout cannot be made")

// confirm reads the committed row by its key and checks that this call wrote
// it. It returns the database's time of creation.
func (r *Registry) confirm(ctx context.Context, number int64, wrote lease.Node) (created time.Time, err error) {
	var rows []record
	if err := r.ask(ctx, &rows, r.selectRows()+" WHERE id = ?", number); err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%w: %d rows have it, want 1", ErrKey, len(rows))
	}
	if read := rows[0].node(); read != wrote {
		return time.Time{}, fmt.Errorf("%w: its row says %+v, want %+v", ErrKey, read, wrote)
	}
	return moment(rows[0].Created), nil
}

func (r *Registry) log() *slog.Logger { return cmp.Or(r.config.Logger, slog.Default()) }
