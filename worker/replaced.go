package worker

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/uidring/uidring/internal/sqldb"
)

// fileCheck reads rows of an SQLite file as other processes see them: it opens a connection for each reading. See
// sqldb.File for why they may see other rows.
type fileCheck struct {
	*sqldb.File
	driver driver.Driver
	read   string // selects a row's token
}

// checkFile returns the check of an SQLite file. It returns nil for other databases, in memory, and on Windows.
func (s *Store) checkFile(ctx context.Context, log *slog.Logger) (*fileCheck, error) {
	file, err := sqldb.WatchFile(ctx, s.db)
	if err != nil || file == nil {
		return nil, err
	}
	pool, err := s.db.DB()
	if err != nil {
		return nil, err
	}
	c := &fileCheck{file, pool.Driver(), "SELECT token FROM " + s.quoted() + " WHERE worker_id = ?"}
	if _, err := c.token(ctx, -1); s.dialect().Transient(err) || errors.Is(err, sqldb.ErrReplaced) || ctx.Err() != nil {
		return nil, err
	} else if err != nil {
		log.WarnContext(ctx, "worker: the file of the database cannot be opened a second time, so a replaced file would go unnoticed",
			"file", c.Path, "error", err)
		return nil, nil
	}
	return c, nil
}

// replaced closes connections to a file that was replaced. Its error matches sqldb.ErrReplaced while the file must not
// be opened.
func (s *Store) replaced(ctx context.Context) error {
	c := s.file.Load()
	if c == nil {
		return nil
	}
	return c.Look(ctx, s.db)
}

func (c *fileCheck) Connect(context.Context) (driver.Conn, error) {
	// mode=rw creates no file. Each of the two drivers reads one of the other options.
	conn, err := c.driver.Open("file:" + (&url.URL{Path: c.Path}).EscapedPath() + "?mode=rw&_busy_timeout=1000&_pragma=busy_timeout(1000)")
	if err == nil && c.Moved() { // since the look before: to read it could write the -wal of the old file into it
		return nil, errors.Join(fmt.Errorf("%w: %s", sqldb.ErrReplaced, c.Path), conn.Close())
	}
	return conn, err
}

func (c *fileCheck) Driver() driver.Driver { return c.driver }

// token returns the token of a row as other processes see it, "" for no row.
func (c *fileCheck) token(ctx context.Context, number int64) (token string, err error) {
	db := sql.OpenDB(c)
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, c.read, number).Scan(&token)
	if errors.Is(err, sql.ErrNoRows) || sqldb.KindOf("sqlite").Missing(err) {
		return "", nil
	}
	return token, err
}

// seen returns an error unless other processes see the row of number with the token. The next statement then gets a new
// connection: an open one may have a -wal that was removed, so that nobody can read what it writes.
func (s *Store) seen(ctx context.Context, number int64, token string) (err error) {
	c := s.file.Load()
	if c == nil {
		return nil
	}
	defer func() {
		if err != nil {
			sqldb.CloseIdle(ctx, s.db)
		}
	}()
	if err := c.Look(ctx, s.db); errors.Is(err, sqldb.ErrReplaced) {
		return err
	}
	got, err := c.token(ctx, number)
	for try := 1; try < findTries && s.dialect().Transient(err) && ctx.Err() == nil; try++ {
		got, err = c.token(ctx, number) // a number whose row is not read is lost until the row expires
	}
	switch {
	case err != nil:
		return s.marked(fmt.Errorf("reopen %s: %w", c.Path, err))
	case got == token:
		return nil
	}
	return fmt.Errorf("%w: %s", sqldb.ErrReplaced, c.Path)
}
