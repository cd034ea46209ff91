package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
)

var (
	// ErrDB is matched when the *gorm.DB cannot be used: it is nil, carries an
	// error, is inside a transaction, or in dry-run mode.
	ErrDB = errors.New("segmentsql: unusable *gorm.DB")

	// ErrDialect is matched for a kind of database that is not SQLite, MySQL,
	// MariaDB or PostgreSQL.
	ErrDialect = errors.New("segmentsql: unsupported kind of database")
)

// once runs f in a transaction of its own on the connections that the handle was
// opened with: plugins do not send transactions to replicas.
func (s *Store) once(ctx context.Context, f func(tx *gorm.DB) error) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.db.Session(&gorm.Session{NewDB: true, SkipHooks: true, Context: ctx}).Transaction(f)
}

// retry calls once until no other transaction collides.
func (s *Store) retry(ctx context.Context, f func(tx *gorm.DB) error) error {
	if err := s.check(); err != nil {
		return err
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 2*time.Millisecond, 200*time.Millisecond
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = s.once(ctx, f)
		if last != nil && !errors.Is(last, errChanged) && !s.dialect().Conflict(last) {
			return struct{}{}, backoff.Permanent(last)
		}
		return struct{}{}, last
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() != nil && !errors.Is(err, last) {
		return fmt.Errorf("%w: %w", err, last)
	}
	return err
}

func (s *Store) check() error {
	if err := sqldb.Unfit(s.db); err != nil {
		return fmt.Errorf("%w: %w", ErrDB, err)
	}
	if _, known := dialects[s.db.Name()]; !known {
		return fmt.Errorf("%w: %s", ErrDialect, s.db.Name())
	}
	return nil
}

// quoted is the table's name in a statement.
func (s *Store) quoted() string { return s.db.Statement.Quote(s.dialect().Fold(s.table)) }
