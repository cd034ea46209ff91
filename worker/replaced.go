package worker

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"runtime"

	"github.com/uidring/uidring/internal/sqldb"
)

var errReplaced = errors.New("the file of the database was moved, removed or replaced while it was open")

// fileCheck notices that the file of an SQLite database was replaced while it was open.
// Connections then use the old file, which no other process sees, and other processes
// get the same numbers from the new file. fileCheck opens a connection for each reading,
// and so reads rows as other processes see them.
type fileCheck struct {
	path   string
	driver driver.Driver
	read   string // selects a row's token
}

// checkFile returns the check of an SQLite file. It returns nil for other databases, in memory, and on Windows.
func (s *Store) checkFile(ctx context.Context, log *slog.Logger) (*fileCheck, error) {
	if s.db.Name() != "sqlite" || runtime.GOOS == "windows" { // where an open file stays where it is
		return nil, nil
	}
	pool, err := s.db.DB()
	if err != nil {
		return nil, nil // connections of the app's own making
	}
	var main struct {
		File string `gorm:"column:file"` // whatever the app's naming strategy
	}
	err = s.ask(ctx, &main, "SELECT file AS file FROM pragma_database_list WHERE name = 'main'")
	if err != nil || main.File == "" {
		return nil, err // in memory
	}
	c := &fileCheck{main.File, pool.Driver(), "SELECT token FROM " + s.quoted() + " WHERE worker_id = ?"}
	if _, err := c.token(ctx, -1); s.dialect().Transient(err) || ctx.Err() != nil {
		return nil, err
	} else if err != nil {
		log.WarnContext(ctx, "worker: the file of the database cannot be opened a second time, so a replaced file would go unnoticed",
			"file", c.path, "error", err)
		return nil, nil
	}
	return c, nil
}

func (c *fileCheck) Connect(context.Context) (driver.Conn, error) {
	// mode=rw creates no file. Each of the two drivers reads one of the other options.
	return c.driver.Open("file:" + (&url.URL{Path: c.path}).EscapedPath() + "?mode=rw&_busy_timeout=1000&_pragma=busy_timeout(1000)")
}

func (c *fileCheck) Driver() driver.Driver { return c.driver }

// token returns the token of a row as other processes see it, "" for no row.
func (c *fileCheck) token(ctx context.Context, number int64) (token string, err error) {
	if _, err := os.Stat(c.path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	db := sql.OpenDB(c)
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, c.read, number).Scan(&token)
	if errors.Is(err, sql.ErrNoRows) || sqldb.KindOf("sqlite").Missing(err) {
		return "", nil
	}
	return token, err
}

// seen returns an error unless other processes see the row of number with the token.
func (s *Store) seen(ctx context.Context, number int64, token string) error {
	c := s.file.Load()
	if c == nil {
		return nil
	}
	got, err := c.token(ctx, number)
	for try := 1; try < findTries && s.dialect().Transient(err) && ctx.Err() == nil; try++ {
		got, err = c.token(ctx, number) // a number whose row is not read is lost until the row expires
	}
	switch {
	case err != nil:
		return s.marked(fmt.Errorf("reopen %s: %w", c.path, err))
	case got == token:
		return nil
	}
	return fmt.Errorf("%w: %s", errReplaced, c.path)
}

// visible returns an error unless other processes see what a new holder has written.
func (s *Store) visible(ctx context.Context, token string, number int64) error {
	err := s.seen(ctx, number, token)
	if errors.Is(err, errReplaced) {
		sqldb.CloseIdle(ctx, s.db)
	}
	return err
}
