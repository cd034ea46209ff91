package segmentsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/uid/segment"
)

// CreateGapless creates a gapless counter, whose first number is next, and the Store's table if it
// is missing. A gapless counter is a row whose step is 0: to convert a segment's counter, stop its
// generators and set the step to 0. If tag already has a counter, the error matches
// [segment.ErrTagExists]. On the table SEQUENCE, which has no step, the error matches
// [segment.ErrUnusable]. CreateGapless commits by itself. In a transaction of yours, as one that creates a tenant, insert
// the row instead, with biz_tag, max_id (the first number) and a step of 0, which needs INSERT on the table.
func (s *Store) CreateGapless(ctx context.Context, tag string, next int64) error {
	if s.step == "" {
		return s.noGapless()
	}
	return s.create(ctx, tag, next, 0)
}

// NextGapless returns the next number of a gapless counter, and increments the counter in the
// caller's transaction tx. If tx is rolled back, or its client dies, the next call returns the same
// number again. So the numbers of committed transactions have no gaps and no duplicates. Create the
// counter with [Store.CreateGapless].
//
// NextGapless locks the counter's row until tx ends, so transactions that draw from the same tag
// run one after another. Draw the number as late in tx as you can. On SQLite, tx locks the whole
// database.
//
// On MySQL and MariaDB, SET GLOBAL read_only, FLUSH TABLES WITH READ LOCK and backups wait for
// transactions that wait for the counter. If tx writes anything after it has drawn a number, it
// waits for them in turn. All writers of the server then stand still until innodb_lock_wait_timeout,
// 50 seconds by default. There are two ways out. Set innodb_lock_wait_timeout=1 in the DSN, and retry
// transactions that fail with error 1205. Or draw in the statement that inserts the row, and commit:
//
//	CREATE TRIGGER invoices_number BEFORE INSERT ON invoices FOR EACH ROW
//	BEGIN
//	  UPDATE leaf_alloc SET max_id = LAST_INSERT_ID(max_id) + 1 WHERE biz_tag = 'invoices' AND step = 0;
//	  SET NEW.number = LAST_INSERT_ID();
//	END
//
// tx is a transaction on the Store's database, such as one that a GORM hook gets. Errors match
//
//   - [segment.ErrUnknownTag] if tag has no counter;
//   - [segment.ErrUnusable] if tx is not a transaction, the table's engine does not support
//     transactions, the counter belongs to a segment, or its column is too narrow;
//   - [segment.ErrUsedUp] after the number 2^63-2.
//
// Any other error comes from the database. After any error, roll tx back. If the error is a
// deadlock, a serialization failure or a locked database, retry the whole transaction. If the
// server has become read-only, NextGapless also closes the connection, so that the next transaction
// may reach a writable server.
func (s *Store) NextGapless(tx *gorm.DB, tag string) (int64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	switch err := sqldb.Dead(tx); {
	case err != nil:
		return 0, unfit("%w", err)
	case !sqldb.InTransaction(tx):
		return 0, unfit("it is inside no transaction, with which the number could be rolled back")
	case tx.Name() != s.db.Name():
		return 0, unfit("it is of %s, want %s", tx.Name(), s.db.Name())
	case s.step == "":
		return 0, s.noGapless()
	}
	inside := sqldb.Session(tx.Statement.Context, tx)
	number, err := s.nextGapless(inside, tag)
	sqldb.EndIfStale(inside, err)
	return number, sqldb.Denied(s.db, err, s.Grants()...)
}

// NextGaplessTx is [Store.NextGapless] for a database/sql transaction that uses the Store's
// database and driver.
func (s *Store) NextGaplessTx(ctx context.Context, tx *sql.Tx, tag string) (int64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	if tx == nil {
		return 0, unfit("the transaction is nil")
	}
	inside := sqldb.Session(ctx, s.db)
	inside.Statement.ConnPool = tx
	return s.NextGapless(inside, tag)
}

func (s *Store) nextGapless(tx *gorm.DB, tag string) (int64, error) {
	if err := s.rollsBack(tx); err != nil && !s.dialect().Missing(err) { // read says that it is missing
		return 0, err
	}
	if s.dialect().lock == "" && s.dialect().taken == "" { // lock before reading, so that no other writer comes in between
		lock := "UPDATE " + s.quoted() + " SET " + s.next + " = " + s.next + " WHERE " + s.tag + " = ?"
		if err := tx.Exec(lock, tag).Error; err != nil && !s.dialect().Missing(err) {
			return 0, err
		}
	}
	number, err := s.take(tx, tag, 1, true)
	if errors.Is(err, segment.ErrUnknownTag) {
		err = fmt.Errorf("%w; add --gapless for a gapless counter", err)
	}
	return number, err
}

func (s *Store) rollsBack(tx *gorm.DB) error {
	if s.rollback.Load() {
		return nil
	}
	if err := s.look(tx.Statement.Context, tx); err != nil {
		return err
	}
	engine, err := sqldb.Engine(tx, s.table)
	switch engine {
	case "MyISAM", "MEMORY", "Aria":
		return unfit("the engine of %s is %s, which does not roll back: ALTER TABLE %s ENGINE = InnoDB", s, engine, s.quoted())
	}
	s.rollback.Store(err == nil)
	return err
}

func (s *Store) noGapless() error {
	return unusable("%s keeps no step, by which a gapless counter is known: use NewLeafAlloc", s)
}
