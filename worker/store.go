package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
)

// Store keeps leased worker numbers in a table of a database. It is a
// lease.Store. Each call is one transaction on the primary. Make one with
// NewStore. It holds no connection of its own and is safe for concurrent use.
type Store struct {
	table
	file  atomic.Pointer[fileCheck] // nil is none; written by Prepare, read by all
	drawn atomic.Int64              // a key of the Registry's table for the next new number; 0 is none
}

var (
	_ lease.Store    = (*Store)(nil)
	_ lease.Preparer = (*Store)(nil)
)

// NewLeaser returns a Leaser with rows in the table WORKER_LEASE of db, without using
// the database. The methods report all faults of db and the config at once. For
// another table, or a table that your migrations create, pass NewStore to lease.New.
//
// The Leaser uses only the connections that db was opened with. If there are replicas,
// those connections must be the primary's.
func NewLeaser(db *gorm.DB, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(db, StoreConfig{}), config)
}

// NewStore returns a Store with rows in a table of db, for lease.New. See NewLeaser about
// db.
func NewStore(db *gorm.DB, config StoreConfig) *Store {
	return &Store{table: newTable(leaseKind, db, config, config.Validate())}
}

// query puts the table and the database's clock into a statement.
func (s *Store) query(statement string) string {
	return strings.NewReplacer("{table}", s.quoted(), "{now}", s.dialect().now).Replace(statement)
}

// counter is the number of the row that counts the numbers given to holders whose
// bounds begin at from.
func counter(from int64) int64 { return -1 - from }

// Check implements lease.Preparer.
func (s *Store) Check() error {
	if err := s.check(); err != nil {
		return err
	}
	if s.dialect().now == "" {
		return fmt.Errorf("%w: %s", ErrDialect, s.db.Name())
	}
	return nil
}

// Prepare implements lease.Preparer: it creates the table if it is missing, unless
// the config has NoSchema.
func (s *Store) Prepare(ctx context.Context, log *slog.Logger) error {
	if s.ensure {
		if err := s.EnsureSchema(ctx); err != nil {
			return s.marked(err)
		}
	}
	sqldb.WarnFlush(ctx, s.db, log, "worker", s.name)
	s.file.Store(s.checkFile(ctx, log))
	return nil
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (view lease.View, err error) {
	registry, err := s.mixed(ctx)
	if err != nil {
		return view, err
	}
	err = s.reads(ctx, func(tx *gorm.DB) error {
		view = lease.View{}
		var rows []rowRecord
		from, to, span := within.From, within.To, expiry.Milliseconds()
		free := `SELECT worker_id AS number, token AS token, reserved_until AS reserved FROM {table}
			WHERE worker_id BETWEEN ? AND ? AND heartbeat_at <= {now} - ?`
		vars := []any{from, to, span}
		if registry != nil {
			free += " AND NOT EXISTS (SELECT 1 FROM " + registry.quoted() + " WHERE id = worker_id AND " + registry.quoted() + ".port <> ?)"
			vars = append(vars, drawnPort)
		}
		if err := tx.Raw(s.query(free+" ORDER BY reserved_until, worker_id LIMIT 32"), vars...).Scan(&rows).Error; err != nil {
			return err
		}
		for _, row := range rows {
			view.Free = append(view.Free, row.row(expiry))
		}
		var counts struct {
			Clock int64 `gorm:"column:clock"`
			Fresh int64 `gorm:"column:fresh"`
			Held  int64 `gorm:"column:held"`
		}
		err := tx.Raw(s.query(`SELECT {now} AS clock,
			COALESCE(MAX(CASE WHEN worker_id BETWEEN ? AND -1 THEN reserved_until WHEN worker_id BETWEEN ? AND ? THEN worker_id + 1 END), 0) AS fresh,
			COUNT(CASE WHEN worker_id BETWEEN ? AND ? AND heartbeat_at > {now} - ? THEN 1 END) AS held FROM {table}`),
			counter(to), from, to, from, to, span).Scan(&counts).Error
		if err != nil {
			return err
		}
		if counts.Clock == 0 {
			return errNoClock
		}
		view.Now, view.Next, view.Held = counts.Clock, max(from, counts.Fresh), counts.Held
		if registry != nil {
			view.Next, err = s.next(tx, registry, view, within)
		}
		return err
	})
	return view, err
}

var errNoClock = errors.New("the database's clock was not read")

// Read implements lease.Store. It returns no row that other processes cannot see.
func (s *Store) Read(ctx context.Context, number int64, expiry time.Duration) (row *lease.Row, now int64, err error) {
	before := ""
	for {
		row, now, err = s.readRow(ctx, number, expiry)
		if err != nil || row == nil {
			return row, now, err
		}
		if row.Token == before { // other processes see another token
			s.reopen(ctx)
			return nil, now, nil
		}
		before = row.Token
		if err = s.seen(ctx, number, row.Token); !errors.Is(err, errReplaced) {
			return row, now, err
		}
	}
}

func (s *Store) readRow(ctx context.Context, number int64, expiry time.Duration) (row *lease.Row, now int64, err error) {
	err = s.reads(ctx, func(tx *gorm.DB) error {
		row = nil
		var r rowRecord
		err := tx.Raw(s.query(`SELECT clock, token AS token, reserved_until AS reserved,
			host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created
			FROM (SELECT {now} AS clock) moment LEFT JOIN {table} ON worker_id = ?`), number).Scan(&r).Error
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

// List implements lease.Store. A plugin of db may send the query to a replica.
func (s *Store) List(ctx context.Context, limit int, expiry time.Duration) ([]lease.Row, error) {
	var records []rowRecord
	err := s.list(ctx, &records, s.query(`SELECT worker_id AS number, token AS token, reserved_until AS reserved,
		host AS host, port AS port, type AS type, heartbeat_at AS heartbeat, created AS created, {now} AS clock
		FROM {table} WHERE worker_id >= 0 ORDER BY worker_id DESC`), limit)
	if err != nil {
		return nil, err
	}
	rows := make([]lease.Row, len(records))
	for i, r := range records {
		rows[i] = r.row(expiry)
	}
	return rows, nil
}

// Insert implements lease.Store. It raises the count of given numbers, so that a
// deleted row's number is not given again as new.
func (s *Store) Insert(ctx context.Context, w lease.Write) (done bool, err error) {
	registry, err := s.mixed(ctx)
	if err != nil {
		return false, err
	}
	there := false // the row
	drawn := int64(0)
	err = s.writes(ctx, func(tx *gorm.DB) error {
		switch {
		case registry == nil:
		case draws(w):
			key, err := s.draw(tx, registry, w)
			if err != nil || key != w.Number {
				drawn = key
				return err
			}
		default:
			greatest, err := registry.greatest(tx)
			if err == nil {
				err = s.clear(registry, greatest, lease.Bounds{From: w.Number, To: w.Number})
			}
			if err != nil {
				return err
			}
		}
		row, next := counter(w.Within.From), w.Number+1
		raised := tx.Exec(s.query("UPDATE {table} SET reserved_until = ? WHERE worker_id = ? AND reserved_until < ?"), next, row, next)
		if raised.Error != nil {
			return raised.Error
		}
		if raised.RowsAffected == 0 {
			var counted int64
			if err := tx.Raw(s.query("SELECT COUNT(*) FROM {table} WHERE worker_id = ?"), row).Scan(&counted).Error; err != nil {
				return err
			}
			switch {
			case counted == 0: // the first number
				if err := s.insertMeta(tx, row, next, layoutText{"-", "-"}); err != nil {
					if s.dialect().Duplicate(err) { // another process made it
						err = lease.Transient(err)
					}
					return err
				}
			case w.Fresh:
				return nil // another process was faster, whether or not its row is still there
			}
		}
		result := tx.Exec(s.query(`INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created)
			VALUES (?, ?, ?, {now}, ?, ?, ?, {now})`), w.Number, w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type)
		done = result.RowsAffected == 1
		there = s.dialect().Duplicate(result.Error)
		return result.Error
	})
	switch {
	case there:
		return false, nil
	case err != nil:
		return false, err
	case drawn > 0:
		s.drawn.Store(drawn) // for the next Look
		return false, nil
	case done && registry != nil && !draws(w):
		err = s.settle(ctx, registry, w)
	}
	if done && err == nil {
		err = s.counts(ctx, w)
	}
	return done && err == nil, err
}

// insertMeta inserts a row below 0, which is not a number's: a count, or the layout.
func (s *Store) insertMeta(tx *gorm.DB, row, next int64, text layoutText) error {
	return tx.Exec(s.query(`INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created)
		VALUES (?, '-', ?, 0, ?, ?, 0, {now})`), row, next, text.Host, text.Port).Error
}

// Swap implements lease.Store.
func (s *Store) Swap(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	var registry *table
	if w.Change == lease.Acquire {
		if registry, err = s.mixed(ctx); err != nil {
			return false, err
		}
	}
	err = s.writes(ctx, func(tx *gorm.DB) error {
		if registry != nil {
			if err := s.admits(tx, registry, w); err != nil {
				return err
			}
		}
		var result *gorm.DB
		switch w.Change {
		case lease.Acquire:
			result = tx.Exec(s.query(`UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now}, host = ?, port = ?, type = ?
				WHERE worker_id = ? AND token = ?`), w.Token, w.Until, w.Node.Host, w.Node.Port, w.Node.Type, w.Number, old)
		case lease.Release:
			result = tx.Exec(s.query("UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = 0 WHERE worker_id = ? AND token = ?"),
				w.Token, w.Until, w.Number, old)
		default:
			result = tx.Exec(s.query("UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now} WHERE worker_id = ? AND token = ?"),
				w.Token, w.Until, w.Number, old)
		}
		done = result.RowsAffected == 1
		return result.Error
	})
	if done && err == nil && w.Change == lease.Acquire {
		err = s.counts(ctx, w)
	}
	return done && err == nil, err
}

// reads runs f, which only reads, in a transaction that sees committed rows only, whatever the
// session's level of isolation.
func (s *Store) reads(ctx context.Context, f func(tx *gorm.DB) error) error {
	return s.noTable(s.marked(sqldb.Transaction(ctx, s.db, f, &sql.TxOptions{Isolation: s.dialect().reads})))
}

// writes runs f in a transaction.
func (s *Store) writes(ctx context.Context, f func(tx *gorm.DB) error) error {
	return s.marked(s.primary(ctx, f))
}

// marked marks the error of a transaction that collided with another.
func (s *Store) marked(err error) error {
	if s.dialect().Conflict(err) {
		return lease.Transient(err)
	}
	return err
}
