package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
)

// Registry gives each generator a new number from a database table, as the package comment
// describes. It need not be closed, and is safe for concurrent use.
type Registry struct {
	table
	config RegistryConfig
	now    func() time.Time // replaced by tests
}

// NewRegistry returns a Registry that uses a table in db. NewRegistry itself does not contact the
// database. The Registry's methods report, in one error, everything that is invalid in db and
// config. See NewLeaser for which connections of db are used.
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

// Assign inserts a row into the table and returns its key as the generator's worker number. The
// number is from 1 to limit, the largest that the layout allows, and has never been given out
// before. If a Leaser in the same database has that number, Assign discards the key and inserts
// another row. Call it once for each generator. While the database is busy, Assign retries for up
// to two minutes, or until ctx is done if that is earlier.
//
// If the next number would exceed limit, the error is a lease.ExhaustedError (lease.ErrExhausted).
// Other errors match lease.ErrConfig, ErrDB, ErrDialect, ErrKey, ErrMixed or ErrNoTable, are about
// the environment (see lease.DetectNode), or wrap the driver's error with the operation and the
// table. On error, number is 0; if the database has already consumed a key, no process ever uses
// that key.
//
// When ctx is done, Assign returns immediately with an error that matches ctx.Err(). The exception
// is SQLite: while another process is writing, Assign first waits out the driver's busy timeout.
func (r *Registry) Assign(ctx context.Context, limit int64) (number int64, err error) {
	return r.register(ctx, lease.Request{Limit: limit})
}

// Lease assigns a number and grants it without a time limit. It returns the same errors as Assign,
// or one that matches lease.ErrLayout (a lease.LayoutError) if the table remembers another layout.
func (r *Registry) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	number, err := r.register(ctx, request)
	if err != nil {
		return nil, err
	}
	request.Granted(lease.Grant{Held: true, Number: number, Fresh: true})
	return registered{}, nil
}

// registered is the lease of a number that no other start gets.
type registered struct{}

func (registered) Use(_, _ time.Time) {}

func (registered) Release(context.Context, time.Time) error { return nil }

// registerFor is how long a start retries while the database is busy, as package lease does.
const registerFor = 2 * time.Minute

func (r *Registry) register(ctx context.Context, request lease.Request) (int64, error) {
	faults := invalid.Of("worker", lease.ErrConfig)
	if request.Limit < 0 {
		faults.Add("limit", request.Limit, "0 or more")
	}
	node, err := r.config.node()
	if err := errors.Join(r.check(), faults.Err(), err); err != nil {
		return 0, err
	}
	var last error
	number, err := backoff.Retry(ctx, func() (number int64, err error) {
		if number, last = r.start(ctx, request, node); last != nil && !r.dialect().Transient(last) {
			err = backoff.Permanent(last)
		} else {
			err = last
		}
		return number, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.5, MaxInterval: 5 * time.Second}),
		backoff.WithMaxElapsedTime(registerFor))
	if err != nil {
		return 0, last // with the operation, which the end of ctx does not say
	}
	return number, nil
}

func (r *Registry) start(ctx context.Context, request lease.Request, node lease.Node) (int64, error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	if err := r.committed(ctx); err != nil {
		return 0, r.fail(ctx, "check the commits of", err)
	}
	switch err := request.CheckLayout(ctx, r.remember); {
	case errors.Is(err, errForgets):
		r.log().WarnContext(ctx, "worker: the table cannot remember the layout, so generators with other layouts are not refused", "table", r.name, "error", err)
	case err != nil:
		return 0, r.fail(ctx, "compare the layout with that of", err)
	}
	before := r.now()
	number, created, err := r.draw(ctx, node, request.Limit)
	if err != nil {
		return 0, err
	}
	r.warnClock(ctx, before, created, r.now())
	r.warnUsedUp(ctx, number, request.Limit)
	r.warnStep(ctx)
	return number, sqldb.WarnFlush(ctx, r.db, r.log(), "worker", r.name)
}

// draw inserts a row and reads it back, until its key is no number of Leasers. The key is the authority
// for new numbers from then on.
func (r *Registry) draw(ctx context.Context, node lease.Node, limit int64) (number int64, created time.Time, err error) {
	insert := func() (int64, error) {
		number, err := r.insert(ctx, node, limit)
		if err != nil {
			return 0, r.fail(ctx, "register in", err)
		}
		if created, err = r.confirm(ctx, number, node); err != nil {
			return 0, r.fail(ctx, fmt.Sprintf("read back number %d from", number), err)
		}
		return number, nil
	}
	leases, err := r.there(ctx)
	if err == nil && leases != nil {
		if err = leases.writable(ctx, noUpdate); err != nil {
			err = r.fail(ctx, "register beside "+leases.name+" in", err)
		}
	}
	if err != nil {
		return 0, created, err
	}
	if number, err = insert(); err != nil {
		return 0, created, err
	}
	// Look again, only now: see the argument in authority.go.
	leases, err = r.there(ctx)
	if leases == nil || err != nil {
		return number, created, err
	}
	p := pair{&r.table, leases}
	ok, err := p.admit(ctx, number)
	if err == nil && !ok {
		number, err = p.draw(ctx, insert)
	}
	if err != nil {
		err = r.fail(ctx, "register in", err)
	}
	return number, created, err
}

// insert commits a row, by one statement, and returns its key. It deletes a row whose key cannot be a
// number, if the user may.
func (r *Registry) insert(ctx context.Context, node lease.Node, limit int64) (int64, error) {
	row := newEntry(0, node)
	err := r.alone(ctx, func(tx *gorm.DB) error { return r.create(tx, &row) })
	switch {
	case err != nil:
		return 0, err
	case row.ID <= 0:
		err = fmt.Errorf("%w: the key is %d, want 1 or more; is the table's key auto-increment?", ErrKey, row.ID)
	case row.ID > limit:
		err = &lease.ExhaustedError{Next: row.ID, Max: limit, Store: r.name}
	}
	if err != nil {
		_, _ = r.exec(ctx, "DELETE FROM {table} WHERE id = ?", row.ID)
	}
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

// remember is SwapLayout of a leasestore.Store.
func (r *Registry) remember(ctx context.Context, old, layout string) (string, error) {
	return r.swapBoth(ctx, old, layout, func(text layoutText) error {
		row := newEntry(nodeLayout, lease.Node{Host: text.Host, Port: text.Port})
		err := r.alone(ctx, func(tx *gorm.DB) error { return r.create(tx, &row) })
		if err == nil {
			var rows int64
			err = r.ask(ctx, &rows, "SELECT COUNT(*) FROM "+r.quoted()+" WHERE id = ?", nodeLayout)
			if err == nil && rows == 0 { // MySQL may have written another key
				_, _ = r.exec(ctx, "DELETE FROM {table} WHERE host_name = ? AND port = ?", text.Host, text.Port)
				err = fmt.Errorf("%w: %w: want an id column that accepts %d", errForgets, ErrKey, nodeLayout)
			}
		}
		if r.dialect().Unfit(err) {
			err = fmt.Errorf("%w: %w", errForgets, err)
		}
		return err
	})
}

// errForgets is why a Registry's table does not remember a layout: its key admits no -1.
var errForgets = errors.New("the table cannot store the row of the layout")

// confirm reads the committed row by its key and checks that this call wrote
// it. It returns the database's time of creation.
func (r *Registry) confirm(ctx context.Context, number int64, wrote lease.Node) (created time.Time, err error) {
	var rows []record
	if err := r.ask(ctx, &rows, r.selectRows()+" WHERE id = ?", number); err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%w: %d rows have the same key, want 1", ErrKey, len(rows))
	}
	if read := rows[0].node(); read != wrote {
		return time.Time{}, fmt.Errorf("%w: the inserted row reads %+v, want %+v", ErrKey, read, wrote)
	}
	return moment(rows[0].Created), nil
}

func (r *Registry) log() *slog.Logger { return cmp.Or(r.config.Logger, slog.Default()) }
