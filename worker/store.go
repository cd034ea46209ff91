package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Store is a leasestore.Store in a database table. Every statement except List's goes to the
// primary. Make one with NewStore. A Store opens no connections itself and is safe for concurrent
// use.
type Store struct {
	table
	file  atomic.Pointer[fileCheck]   // nil is none; written by Prepare, read by all
	log   atomic.Pointer[slog.Logger] // written by Prepare, read by Insert
	keyed atomic.Bool                 // the key of the Registry's table makes new numbers; written when row -1 is read
}

var _ leasestore.Preparer = (*Store)(nil)

// NewLeaser returns a Leaser that uses the table WORKER_LEASE in db. NewLeaser itself does not
// contact the database. The Leaser's methods report, in one error, everything that is invalid in
// db and config. For another table, or a table that your migrations create, pass a store from
// NewStore to lease.New.
//
// Except in Leases, the Leaser uses only the connections that db was opened with. If there are
// replicas, those connections must be to the primary.
func NewLeaser(db *gorm.DB, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(db, StoreConfig{}), config)
}

// NewStore returns a Store for lease.New that keeps its rows in a table in db. See NewLeaser for
// which connections of db are used.
func NewStore(db *gorm.DB, config StoreConfig) *Store {
	return &Store{table: newTable(leaseKind, db, config, config.Validate())}
}

// counter is the row that counts the numbers given to holders whose range begins at from.
func counter(from int64) int64 { return -1 - from }

// Check implements leasestore.Preparer.
func (s *Store) Check() error {
	if err := s.check(); err != nil {
		return err
	}
	if s.dialect().now == "" {
		return fmt.Errorf("%w: %s", ErrDialect, s.db.Name())
	}
	return nil
}

// Prepare implements leasestore.Preparer. It refuses a table without a key, in which a number
// could have two rows.
func (s *Store) Prepare(ctx context.Context, log *slog.Logger) error {
	if err := s.ready(ctx); err != nil {
		return s.marked(err)
	}
	keyless, err := sqldb.Keyless(ctx, s.db, s.name, leaseKind.key)
	switch {
	case s.dialect().Transient(err) || ctx.Err() != nil:
		return s.marked(err)
	case err != nil:
		log.WarnContext(ctx, "worker: the catalog of the database does not say whether the table has a key", "table", s.name, "error", err)
	case keyless:
		return fmt.Errorf("%w: %s has none on %s, so two processes could take the same number; stop all users of the table, and run: "+
			"CREATE UNIQUE INDEX worker_lease_key ON %[2]s (%[3]s)", ErrKey, s.name, leaseKind.key)
	}
	if err := sqldb.WarnFlush(ctx, s.db, log, "worker", s.name); err != nil {
		return s.marked(err)
	}
	if err := s.committed(ctx); err != nil {
		return s.marked(err)
	}
	s.log.Store(log)
	file, err := s.checkFile(ctx, log)
	if err != nil {
		return s.marked(err)
	}
	s.file.Store(file)
	return s.meet(ctx)
}

// A sample is of the rows at so many random points. After a sample without a free row, a look
// takes another: of 1,000 holders that restart again and again, one after the other, the numbers
// in use then grow by a twentieth, where they would grow by a tenth.
const points, samples = 64, 2

// Look implements leasestore.Store.
func (s *Store) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (view leasestore.View, err error) {
	var registry *table
	err = s.reads(ctx, func(tx *gorm.DB) error {
		view = leasestore.View{}
		var is state
		err := tx.Raw(s.query(`SELECT {now} AS clock, COALESCE((SELECT MAX(reserved_until) FROM {table} WHERE worker_id BETWEEN ? AND -1), 0) AS given,
			COALESCE((SELECT host FROM {table} WHERE worker_id = -1), '') AS authority,
			COALESCE((SELECT MIN(worker_id) FROM {table} WHERE worker_id BETWEEN ? AND ?), 0) AS least,
			COALESCE((SELECT MAX(worker_id) + 1 FROM {table} WHERE worker_id BETWEEN ? AND ?), 0) AS beyond`),
			s.values(counter(within.To), within.From, within.To, within.From, within.To)...).Scan(&is).Error
		switch {
		case err != nil:
			return err
		case is.Clock == 0:
			return errNoClock
		}
		if registry, err = s.known(is.Authority); err != nil {
			return err
		}
		view.Now, view.Next = is.Clock, max(within.From, is.Given, is.Beyond)
		if full {
			err = tx.Raw(s.query("SELECT COUNT(*) FROM {table} WHERE worker_id BETWEEN ? AND ? AND heartbeat_at > {now} - ?"),
				s.values(within.From, within.To, expiry.Milliseconds())...).Scan(&view.Held).Error
		}
		if err == nil {
			view.Free, err = s.free(tx, registry, within, is, full, expiry)
		}
		return err
	})
	if err == nil && registry != nil {
		view.Next, err = s.next(ctx, registry, view, within, full)
	}
	if registry != nil {
		err = gone(registry, err)
	}
	return view, err
}

// state is what a look begins with. The rows of its range have numbers from Least up to
// Beyond; both are 0 if there is no row.
type state struct {
	Clock     int64  `gorm:"column:clock"`
	Given     int64  `gorm:"column:given"`
	Authority string `gorm:"column:authority"` // the host in row -1
	Least     int64  `gorm:"column:least"`
	Beyond    int64  `gorm:"column:beyond"`
}

// free returns rows that are not held: of all rows within a range, or of a sample. A sample has
// the row at or above each point, since numbers of deleted rows and of a Registry have none.
func (s *Store) free(tx *gorm.DB, registry *table, within leasestore.Range, is state, full bool, expiry time.Duration) (free []leasestore.Row, err error) {
	where, values := " WHERE worker_id BETWEEN ? AND ? AND heartbeat_at <= {now} - ?", []any{within.From, within.To, expiry.Milliseconds()}
	if registry != nil {
		where += " AND NOT EXISTS (SELECT 1 FROM " + registry.quoted() + " WHERE id = worker_id AND " + registry.quoted() + ".port <> '" + drawnPort + "')"
	}
	from, tries := "{table}", 1
	sampled := !full && is.Beyond-is.Least > points
	if sampled {
		const part = "SELECT * FROM (SELECT worker_id, token, reserved_until, heartbeat_at FROM {table} WHERE worker_id BETWEEN ? AND ? ORDER BY worker_id LIMIT 1) p"
		from, tries = "("+part+strings.Repeat(" UNION "+part, points-1)+") sample", samples
	}
	for ; tries > 0 && len(free) == 0; tries-- {
		var vars []any
		for range points {
			if sampled {
				vars = append(vars, is.Least+rand.Int64N(is.Beyond-is.Least), within.To)
			}
		}
		var rows []rowRecord
		err := tx.Raw(s.query("SELECT worker_id AS number, token AS token, reserved_until AS reserved FROM "+from+where+
			" ORDER BY reserved_until, worker_id LIMIT 256"), s.values(append(vars, values...)...)...).Scan(&rows).Error
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			free = append(free, row.row(expiry))
		}
	}
	return free, nil
}

var errNoClock = errors.New("the database's clock was not read")

// Read implements leasestore.Store. It returns only rows that other processes can also see.
func (s *Store) Read(ctx context.Context, number int64, expiry time.Duration) (row *leasestore.Row, now int64, err error) {
	before := ""
	for {
		row, now, err = s.readRow(ctx, number, expiry)
		if err != nil || row == nil {
			return row, now, err
		}
		if row.Token == before { // other processes see another token
			sqldb.CloseIdle(ctx, s.db)
			return nil, now, nil
		}
		before = row.Token
		if err = s.seen(ctx, number, row.Token); !errors.Is(err, errReplaced) {
			return row, now, err
		}
	}
}

func (s *Store) readRow(ctx context.Context, number int64, expiry time.Duration) (row *leasestore.Row, now int64, err error) {
	err = s.reads(ctx, func(tx *gorm.DB) error {
		row = nil
		var r rowRecord
		err := tx.Raw(s.query(`SELECT clock, token AS token, reserved_until AS reserved,
			host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created
			FROM (SELECT {now} AS clock) moment LEFT JOIN {table} ON worker_id = ?`), s.values(number)...).Scan(&r).Error
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
func (s *Store) List(ctx context.Context, limit int, expiry time.Duration) ([]leasestore.Row, error) {
	var records []rowRecord
	err := s.list(ctx, &records, s.query(`SELECT worker_id AS number, token AS token, reserved_until AS reserved,
		host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created, {now} AS clock
		FROM {table} WHERE worker_id >= 0 ORDER BY worker_id DESC`), limit)
	if err != nil {
		return nil, err
	}
	rows := make([]leasestore.Row, len(records))
	for i, r := range records {
		rows[i] = r.row(expiry)
	}
	return rows, nil
}

// Swap implements leasestore.Store.
func (s *Store) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if w.Change == leasestore.Acquire && s.keyed.Load() { // so there is another table
		if err := s.admits(ctx, s.other(), w); err != nil {
			return false, err
		}
	}
	var rows int64
	switch w.Change {
	case leasestore.Acquire:
		rows, err = s.exec(ctx, `UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now}, host = ?, port = ?, type = ?
			WHERE worker_id = ? AND token = ?`, w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type, w.Number, old)
	case leasestore.Release:
		rows, err = s.exec(ctx, "UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = 0 WHERE worker_id = ? AND token = ?",
			w.Token, w.Until, w.Number, old)
	default:
		rows, err = s.exec(ctx, "UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now} WHERE worker_id = ? AND token = ?",
			w.Token, w.Until, w.Number, old)
	}
	if rows == 1 && err == nil && w.Change == leasestore.Acquire {
		err = s.visible(ctx, w.Token, w.Number)
	}
	return rows == 1 && err == nil, err
}
