package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/uid/segment"
)

var (
	// ErrDB is matched when the *gorm.DB cannot be used: it is nil, carries an
	// error, is inside a transaction, or in dry-run mode. It matches
	// [segment.ErrUnusable].
	ErrDB = fmt.Errorf("%w: unusable *gorm.DB", segment.ErrUnusable)

	// ErrDialect is matched for a kind of database that is not SQLite, MySQL,
	// MariaDB or PostgreSQL. It matches [segment.ErrUnusable].
	ErrDialect = fmt.Errorf("%w: unsupported kind of database", segment.ErrUnusable)
)

// once runs f in a transaction of its own.
func (s *Store) once(ctx context.Context, f func(tx *gorm.DB) error) error {
	if err := s.check(); err != nil {
		return err
	}
	return sqldb.Transaction(ctx, s.db, f)
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

// warnFlush logs, once, if a crash of the server can undo commits.
func (s *Store) warnFlush(ctx context.Context) {
	if s.flushing.CompareAndSwap(false, true) {
		sqldb.WarnFlush(ctx, s.db, s.log(), "segmentsql", s.table)
	}
}

// quoted is the table's name in a statement.
func (s *Store) quoted() string { return s.db.Statement.Quote(s.dialect().Fold(s.table)) }
