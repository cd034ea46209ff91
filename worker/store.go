package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Store is a leasestore.Store in two database tables, for lease.New. Every statement, except that of
// Leases, goes to the primary. Make one with NewStore. A Store opens no connections itself and is safe
// for concurrent use.
type Store struct {
	*table // of leases

	file atomic.Pointer[fileCheck]   // nil is none; written by Prepare, read by all
	log  atomic.Pointer[slog.Logger] // written by Prepare, read by Insert

	forLeases
}

// forLeases are the methods of a Store that package lease calls. godoc does not show them.
type forLeases struct {
	leasestore.Preparer
	leasestore.Counter
}

// leaseRows implements forLeases.
type leaseRows struct{ *Store }

// NewLeaser returns a Leaser that uses the tables WORKER_LEASE and WORKER_NODE in db. NewLeaser
// itself does not contact the database. The Leaser's methods report, in one error, everything that
// is invalid in db and config. For other tables, or tables that your migrations create, pass a store
// from NewStore to lease.New.
//
// Except in Leases, the Leaser uses only the connections that db was opened with. If there are
// replicas, those connections must be to the primary.
func NewLeaser(db *gorm.DB, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(db, StoreConfig{}), config)
}

// NewStore returns a Store for lease.New that keeps its rows in tables in db. See NewLeaser for
// which connections of db are used.
func NewStore(db *gorm.DB, config StoreConfig) *Store {
	s := &Store{table: newTables(db, config, config.Validate())}
	s.forLeases = forLeases{leaseRows{s}, leaseRows{s}}
	return s
}

// counter is the row that counts the numbers given to holders whose range begins at from.
func counter(from int64) int64 { return -1 - from }

// Check implements leasestore.Preparer.
func (s leaseRows) Check() error {
	if err := s.check(); err != nil {
		return err
	}
	if s.dialect().now == "" {
		return fmt.Errorf("%w: %s", ErrDialect, s.db.Name())
	}
	return nil
}

// EnsureSchema creates the tables that are missing, and alters no existing table. Each generator that
// starts calls it, unless the config sets NoSchema. WORKER_LEASE is in the schema of
// WORKER_NODE. See [Registry.EnsureSchema] for the rest.
func (s *Store) EnsureSchema(ctx context.Context) error { return s.both(ctx, (*table).EnsureSchema) }

// both calls a method of the two tables, one after the other.
func (s *Store) both(ctx context.Context, method func(*table, context.Context) error) error {
	if err := method(s.nodes, ctx); err != nil {
		return err
	}
	if err := s.beside(ctx); err != nil {
		return s.fail(ctx, "look for", err)
	}
	return method(s.table, ctx)
}

// Schema returns the statements with which EnsureSchema creates the tables on this kind of database,
// separated by semicolons. It uses no connection. Errors match ErrDB, ErrDialect or
// lease.ErrConfig.
func (s *Store) Schema() (string, error) {
	nodes, err := s.nodes.Schema()
	if err != nil {
		return "", err
	}
	leases, err := s.table.Schema()
	return nodes + ";\n\n" + leases, err
}

// Grants returns the privileges that a running service's database user needs, each as the text
// between GRANT and TO.
func (s *Store) Grants() []string { return append(s.table.grants(), s.nodes.grants()...) }

// CreateGrants returns the additional privileges that the user needs if a starting generator has
// to create the tables. On PostgreSQL, that is CREATE on the schema in the Prefix, or on public if
// the Prefix has no schema.
func (s *Store) CreateGrants() []string {
	return slices.Compact(append(s.table.CreateGrants(), s.nodes.CreateGrants()...))
}

// Prepare implements leasestore.Preparer. It refuses tables without a key, in which a number
// could have two rows.
func (s leaseRows) Prepare(ctx context.Context, log *slog.Logger) error {
	return s.marked(s.prepare(ctx, log))
}

func (s *Store) prepare(ctx context.Context, log *slog.Logger) error {
	if err := s.both(ctx, (*table).ready); err != nil {
		return err
	}
	if err := s.nodes.readSession(ctx, log); err != nil {
		return err
	}
	s.dirty.Store(s.nodes.dirty.Load())
	if err := keyed(ctx, log, s.nodes, s.table); err != nil {
		return err
	}
	if err := sqldb.WarnFlush(ctx, s.db, log, "worker", s.full()); err != nil {
		return err
	}
	s.log.Store(log)
	file, err := s.checkFile(ctx, log)
	if err == nil {
		s.file.Store(file)
	}
	return err
}

// SwapLayout implements leasestore.Store, with the record in WORKER_NODE. For a holder that chooses its
// numbers, it then looks for keys that another program has drawn.
func (s leaseRows) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if err := s.replaced(ctx); err != nil {
		return "", err
	}
	remembered, err := swapLayout(ctx, s.table, old, terms, s.probe)
	if err == nil && terms.Chosen {
		var keys int64
		if keys, err = s.nodes.foreign(ctx, terms.Within); err == nil && keys > 0 && old == "" {
			cmp.Or(s.log.Load(), slog.Default()).WarnContext(ctx, "worker: another program draws numbers from a database in which configs name them; give it a database of its own, "+
				"because it can draw a number that a generator has", "table", s.nodes.name, "keys", keys)
		}
	}
	return remembered, s.nodes.noTable(err)
}

// A look that is not full reads all rows of up to few numbers. Of more numbers it reads a sample: the rows of sampled random
// numbers. If none of these is free, as where most rows were deleted, it reads up to few rows from one of them on.
const few, sampled = 2048, 256

// Look implements leasestore.Store.
func (s leaseRows) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (view leasestore.View, err error) {
	if err := s.replaced(ctx); err != nil {
		return view, err
	}
	err = s.reads(ctx, func(tx *gorm.DB) error {
		view = leasestore.View{}
		var is state
		err := s.scan(tx, &is, `SELECT {now} AS clock, COALESCE((SELECT MAX(reserved_until) FROM {table} WHERE worker_id BETWEEN ? AND -1), 0) AS given,
			COALESCE((SELECT type FROM {nodes} WHERE id = -1), 0) AS type, COALESCE((SELECT MAX(id) FROM {nodes}), 0) AS drawn,
			COALESCE((SELECT MIN(worker_id) FROM {table} WHERE worker_id BETWEEN ? AND ?), 0) AS least,
			COALESCE((SELECT MAX(worker_id) + 1 FROM {table} WHERE worker_id BETWEEN ? AND ?), 0) AS beyond`,
			counter(within.To), within.From, within.To, within.From, within.To)
		switch {
		case err != nil:
			return err
		case is.Clock == 0:
			return errNoClock
		}
		view.Now, view.Next = is.Clock, max(within.From, is.Given, is.Beyond)
		if is.Type == typeDrawn {
			view.Next = max(view.Next, is.Drawn+1)
		}
		if full {
			err = s.scan(tx, &view.Held, "SELECT COUNT(*) FROM {table} WHERE worker_id BETWEEN ? AND ? AND heartbeat_at > {now} - ?",
				within.From, within.To, expiry.Milliseconds())
		}
		if err == nil {
			view.Free, err = s.free(tx, within, is, full, expiry)
		}
		return err
	})
	return view, err
}

// state is what a look begins with. The rows of its range have numbers from Least up to
// Beyond; both are 0 if there is no row.
type state struct {
	Clock  int64 `gorm:"column:clock"`
	Given  int64 `gorm:"column:given"`
	Type   int   `gorm:"column:type"`  // of the record
	Drawn  int64 `gorm:"column:drawn"` // the greatest key
	Least  int64 `gorm:"column:least"`
	Beyond int64 `gorm:"column:beyond"`
}

// free returns rows that are not held.
func (s *Store) free(tx *gorm.DB, within leasestore.Range, is state, full bool, expiry time.Duration) (free []leasestore.Row, err error) {
	rows, span := "worker_id BETWEEN "+strconv.FormatInt(within.From, 10)+" AND "+strconv.FormatInt(within.To, 10), is.Beyond-is.Least
	samples := []string{rows}
	if !full && span > few {
		numbers := make([]string, sampled)
		for i := range numbers {
			numbers[i] = strconv.FormatInt(is.Least+rand.Int64N(span), 10)
		}
		samples = []string{"worker_id IN (" + strings.Join(numbers, ", ") + ")",
			rows + " AND worker_id >= " + numbers[0] + " ORDER BY worker_id LIMIT " + strconv.Itoa(few)}
	}
	for _, sample := range samples {
		var rows []rowRecord
		err := s.scan(tx, &rows, "SELECT worker_id AS number, token AS token, reserved_until AS reserved FROM "+
			"(SELECT worker_id, token, reserved_until, heartbeat_at FROM {table} WHERE "+sample+") sample "+
			"WHERE heartbeat_at <= {now} - ? AND "+unleased+" ORDER BY reserved_until, worker_id LIMIT 256", expiry.Milliseconds())
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			free = append(free, row.row(expiry))
		}
		if len(free) > 0 {
			break
		}
	}
	return free, nil
}

// unleased is the condition that no key of WORKER_NODE is the number of a row, but for one that a Leaser drew.
const unleased = "NOT EXISTS (SELECT 1 FROM {nodes} WHERE {nodes}.id = worker_id AND {nodes}.port <> '" + drawnPort + "')"

var errNoClock = errors.New("the database's clock was not read; a DSN must not rename columns, as columnsWithAlias does")

// Read implements leasestore.Store. It returns only rows that other processes can also see.
func (s leaseRows) Read(ctx context.Context, number int64, expiry time.Duration) (row *leasestore.Row, now int64, err error) {
	before := ""
	for {
		if err := s.replaced(ctx); errors.Is(err, sqldb.ErrReplaced) { // others cannot see the row
			return nil, time.Now().UnixMilli(), nil
		} else if err != nil {
			return nil, 0, err
		}
		row, now, err = s.readRow(ctx, number, expiry)
		if err != nil || row == nil {
			return row, now, err
		}
		if row.Token == before { // other processes see another token
			return nil, now, nil
		}
		before = row.Token
		if err = s.seen(ctx, number, row.Token); !errors.Is(err, sqldb.ErrReplaced) {
			return row, now, err
		}
	}
}

func (s *Store) readRow(ctx context.Context, number int64, expiry time.Duration) (row *leasestore.Row, now int64, err error) {
	err = s.reads(ctx, func(tx *gorm.DB) error {
		row = nil
		var r rowRecord
		err := s.scan(tx, &r, `SELECT clock, token AS token, reserved_until AS reserved,
			host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created
			FROM (SELECT {now} AS clock) moment LEFT JOIN {table} ON worker_id = ?`, number)
		if err != nil {
			return err
		}
		if r.Clock == 0 {
			return errNoClock
		}
		now = r.Clock
		if r.Token != nil {
			r.Number = number
			found := r.row(expiry)
			row = &found
		}
		return nil
	})
	return row, now, err
}

// List implements leasestore.Store. A GORM plugin registered with db may send the query to a
// replica.
func (s leaseRows) List(ctx context.Context, limit int, expiry time.Duration) ([]leasestore.Row, error) {
	if err := s.beside(ctx); err != nil {
		return nil, err
	}
	var records []rowRecord
	err := s.list(ctx, &records, s.query(`SELECT worker_id AS number, token AS token, reserved_until AS reserved,
		host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created, {now} AS clock
		FROM {table} WHERE worker_id >= 0 ORDER BY worker_id DESC`), limit)
	if err != nil {
		return nil, err
	}
	rows := make([]leasestore.Row, len(records))
	for i, r := range records {
		if r.Token == nil {
			return nil, errNoClock
		}
		rows[i] = r.row(expiry)
	}
	return rows, nil
}

// Swap implements leasestore.Store.
func (s leaseRows) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if w.Change == leasestore.Extend { // nothing is written to a file that was moved away; Read says what that means
		if err := s.replaced(ctx); err != nil {
			return false, err
		}
	}
	var rows int64
	switch w.Change {
	case leasestore.Acquire:
		rows, err = s.exec(ctx, `UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now}, host = ?, port = ?, type = ?
			WHERE worker_id = ? AND token = ? AND `+unleased, w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type, w.Number, old)
		if rows == 1 && err == nil {
			var undone bool // as by a trigger: the row would have two holders
			if undone, err = s.hasToken(ctx, w.Number, old); undone {
				err = errIgnored
			}
		}
	case leasestore.Release:
		rows, err = s.exec(ctx, "UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = 0 WHERE worker_id = ? AND token = ?",
			w.Token, w.Until, w.Number, old)
	default:
		rows, err = s.exec(ctx, "UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now} WHERE worker_id = ? AND token = ? AND {now} BETWEEN ? AND ?",
			w.Token, w.Until, w.Number, old, w.Earliest, cmp.Or(w.Latest, math.MaxInt64))
	}
	if rows == 1 && err == nil && w.Change != leasestore.Release {
		err = s.seen(ctx, w.Number, w.Token)
	}
	return rows == 1 && err == nil, err
}
