package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/lease"
)

// store carries a holder's requests to the table of leases. Each is one
// transaction on the primary; whether a write was done is told by the rows that
// it changed.
type store struct {
	table  *table
	node   Node
	limit  int64 // greatest number
	expiry int64 // in milliseconds
	sql    statements

	// watch, if set, is told when a request that reads was sent and answered, and
	// what the database's clock said. Its error is the answer's.
	watch func(before, after time.Time, database int64) error
	now   func() time.Time
}

// statements are SQL for one dialect and table.
type statements struct {
	free, counts, read            string // of free rows, of all rows, of one row
	insert, take, extend, release string // a row
	raise, counted, count         string // the count of numbers given
}

// store returns an error, which matches ErrDialect, for a kind of database that
// is not known.
func (l *Leaser) store(node Node, limit int64, clock func() time.Time) (*store, error) {
	now := l.dialect().now
	if now == "" {
		return nil, fmt.Errorf("%w: %s", ErrDialect, l.db.Name())
	}
	fill := strings.NewReplacer("{table}", l.quoted(), "{now}", now).Replace
	return &store{
		table:  &l.table,
		node:   node,
		limit:  limit,
		expiry: l.expiry.Milliseconds(),
		now:    clock,
		sql: statements{
			free: fill(`SELECT worker_id AS number, token AS token, reserved_until AS reserved FROM {table}
				WHERE worker_id BETWEEN 0 AND ? AND heartbeat_at <= {now} - ? ORDER BY reserved_until, worker_id LIMIT 32`),
			counts: fill(`SELECT {now} AS clock,
				COALESCE(MAX(CASE WHEN worker_id < 0 THEN reserved_until ELSE worker_id + 1 END), 0) AS fresh,
				COUNT(CASE WHEN worker_id BETWEEN 0 AND ? AND heartbeat_at > {now} - ? THEN 1 END) AS held FROM {table}`),
			read: fill(`SELECT clock, token AS token, reserved_until AS reserved,
				host AS host, port AS port, heartbeat_at AS heartbeat,
				CASE WHEN heartbeat_at > clock - ? THEN 1 ELSE 0 END AS live
				FROM (SELECT {now} AS clock) moment LEFT JOIN {table} ON worker_id = ?`),
			insert: fill(`INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created)
				VALUES (?, ?, ?, {now}, ?, ?, ?, {now})`),
			take: fill(`UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now}, host = ?, port = ?, type = ?
				WHERE worker_id = ? AND token = ?`),
			extend:  fill(`UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = {now} WHERE worker_id = ? AND token = ?`),
			release: fill(`UPDATE {table} SET token = ?, reserved_until = ?, heartbeat_at = 0 WHERE worker_id = ? AND token = ?`),
			raise:   fill(`UPDATE {table} SET reserved_until = ? WHERE worker_id = -1 AND reserved_until < ?`),
			counted: fill(`SELECT COUNT(*) FROM {table} WHERE worker_id = -1`),
			count: fill(`INSERT INTO {table} (worker_id, token, reserved_until, heartbeat_at, host, port, type, created)
				VALUES (-1, '-', ?, 0, '-', '-', 0, {now})`),
		},
	}, nil
}

// do carries out a request.
func (s *store) do(ctx context.Context, request lease.Request) (answer lease.Answer) {
	reading := request.Op == lease.Look || request.Op == lease.Read
	var before time.Time
	if reading && s.watch != nil {
		before = s.now()
	}
	run := s.table.primary
	if reading {
		run = s.table.committed
	}
	answer.Err = run(ctx, func(tx *gorm.DB) error {
		answer = lease.Answer{}
		switch request.Op {
		case lease.Look:
			return s.look(tx, &answer)
		case lease.Read:
			return s.read(tx, request, &answer)
		case lease.Insert:
			return s.insert(tx, request, &answer)
		default:
			return s.swap(tx, request, &answer)
		}
	})
	if answer.Err != nil {
		answer.Done = false // as far as anybody knows
	}
	if answer.Err == nil && reading && s.watch != nil {
		answer.Err = s.watch(before, s.now(), answer.Now)
	}
	return answer
}

func (s *store) look(tx *gorm.DB, answer *lease.Answer) error {
	// Columns are named, since GORM would name them as the app has it do.
	var rows []struct {
		Number   int64  `gorm:"column:number"`
		Token    string `gorm:"column:token"`
		Reserved int64  `gorm:"column:reserved"`
	}
	if err := tx.Raw(s.sql.free, s.limit, s.expiry).Scan(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows {
		answer.Rows = append(answer.Rows, lease.Row{Number: row.Number, Token: row.Token, Until: row.Reserved})
	}
	var counts struct {
		Clock int64 `gorm:"column:clock"`
		Fresh int64 `gorm:"column:fresh"`
		Held  int64 `gorm:"column:held"`
	}
	if err := tx.Raw(s.sql.counts, s.limit, s.expiry).Scan(&counts).Error; err != nil {
		return err
	}
	answer.Now, answer.Next, answer.Held = counts.Clock, counts.Fresh, counts.Held
	return nil
}

func (s *store) read(tx *gorm.DB, request lease.Request, answer *lease.Answer) error {
	var row struct {
		Clock     int64   `gorm:"column:clock"`
		Token     *string `gorm:"column:token"`
		Reserved  *int64  `gorm:"column:reserved"`
		Host      string  `gorm:"column:host"`
		Port      string  `gorm:"column:port"`
		Heartbeat int64   `gorm:"column:heartbeat"`
		Live      int     `gorm:"column:live"`
	}
	result := tx.Raw(s.sql.read, s.expiry, request.Number).Scan(&row)
	if result.Error != nil {
		return result.Error
	}
	if row.Clock == 0 {
		return fmt.Errorf("%w: the database's clock was not read", ErrKey)
	}
	answer.Now = row.Clock
	if row.Token != nil && row.Reserved != nil {
		found := lease.Row{Number: request.Number, Token: *row.Token, Until: *row.Reserved, Live: row.Live == 1}
		if found.Live {
			heard := time.Duration(row.Clock-row.Heartbeat) * time.Millisecond
			found.Holder = fmt.Sprintf("host %q, port %q, heard of %v ago", row.Host, row.Port, heard)
		}
		answer.Rows = []lease.Row{found}
	}
	return nil
}

// errOvertaken is why a number is not made that was new when it was looked for:
// somebody else was faster, whether or not the row is still there. There is a next.
var errOvertaken = errors.New("worker: the number was given meanwhile")

// insert makes a row, and raises the count of numbers given so that a number whose
// row is deleted is not given again.
func (s *store) insert(tx *gorm.DB, request lease.Request, answer *lease.Answer) error {
	next := request.Number + 1
	raised := tx.Exec(s.sql.raise, next, next)
	if raised.Error != nil {
		return raised.Error
	}
	if raised.RowsAffected == 0 {
		var counted int64
		if err := tx.Raw(s.sql.counted).Scan(&counted).Error; err != nil {
			return err
		}
		switch {
		case counted == 0: // the table's first number
			if err := tx.Exec(s.sql.count, next).Error; err != nil {
				return err
			}
		case request.Fresh:
			return errOvertaken
		}
	}
	result := tx.Exec(s.sql.insert, request.Number, request.Token, request.Until, s.node.Host, s.node.Port, s.node.Type)
	answer.Done = result.RowsAffected == 1
	return result.Error
}

func (s *store) swap(tx *gorm.DB, request lease.Request, answer *lease.Answer) error {
	var result *gorm.DB
	switch {
	case request.Acquire:
		result = tx.Exec(s.sql.take, request.Token, request.Until, s.node.Host, s.node.Port, s.node.Type, request.Number, request.Old)
	case request.Release:
		result = tx.Exec(s.sql.release, request.Token, request.Until, request.Number, request.Old)
	default:
		result = tx.Exec(s.sql.extend, request.Token, request.Until, request.Number, request.Old)
	}
	answer.Done = result.RowsAffected == 1
	return result.Error
}
