package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/cmd/internal/cli"
)

const (
	// Variable is the environment variable that names the database where --dsn does not.
	Variable = "UIDRING_DSN"
	// Default is the SQLite file that is used where neither names a database.
	Default = "uidring.db"
)

// Flag adds --dsn. stores are the other stores that the command takes. The flag's default
// is not the variable's value, since help would show that, and with it a password.
func Flag(cmd *cobra.Command, stores Stores) {
	driver := "or a DSN for GORM's driver\n"
	if schemes := slices.Sorted(maps.Keys(stores)); len(schemes) > 0 {
		last := len(schemes) - 1
		driver = "a DSN for GORM's driver,\nor a URL with " + strings.Join(schemes[:last], "://, ") + ":// or " + schemes[last] + "://\n"
	}
	cmd.Flags().String("dsn", "", "`database`: an SQLite file such as app.db, mysql://user@host:3306/name,\n"+
		"postgres://user@host:5432/name, "+driver+
		"(default $"+Variable+", else "+Default+" in the current directory)")
	cli.CompleteFiles(cmd, "dsn")
}

// DSN names a database that may be opened.
type DSN struct {
	Text   string
	Origin string // who named it, for errors: a flag, a variable, a field
	Stores Stores // what the DSN may name, beside SQL databases

	// Existing makes an SQLite file that is not there an error that matches
	// [os.ErrNotExist]. Otherwise the file is created.
	Existing bool

	named  bool // by a flag or a variable
	noFlag bool // the command has no --layout
}

// Of returns the database of a command that has [Flag].
func Of(cmd *cobra.Command, stores Stores) DSN {
	d := DSN{Text: Default, Origin: "the default", Stores: stores, noFlag: cmd.Flags().Lookup("layout") == nil}
	if flag := cmd.Flags().Lookup("dsn"); flag.Changed {
		d.Text, d.Origin, d.named = flag.Value.String(), "--dsn", true
	} else if dsn := os.Getenv(Variable); dsn != "" {
		d.Text, d.Origin, d.named = dsn, "$"+Variable, true
	}
	return d
}

// Error is a fault of a database whose DSN is good. It has the database's name, and who
// named the database.
type Error struct {
	name, origin string
	Err          error
}

// Error returns one line without a password.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (%s): %s", e.name, e.origin, cli.WithoutPrefix(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Opened is an open database or store. It is safe for concurrent use.
type Opened struct {
	*gorm.DB        // nil unless the store is an SQL database
	Name     string // for messages: without password and options
	at       DSN
	close    func() error
}

// Wrap returns err with the name of the database. It returns nil for nil.
func (o *Opened) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{o.Name, o.at.Origin, err}
}

// Close closes the connections. Close generators first.
func (o *Opened) Close() error { return o.Wrap(o.close()) }

// Open connects to an SQL database. A DSN that cannot be understood is a [cli.UsageError];
// other errors are an [Error]. GORM's logger is silent, since every error is returned.
func (d DSN) Open(ctx context.Context) (*Opened, error) {
	d.Stores = nil
	return d.open(ctx, nil)
}

// open connects to an SQL database, or by connect to another store.
func (d DSN) open(ctx context.Context, connect func(context.Context, *Store) (func() error, error)) (*Opened, error) {
	o := &Opened{at: d}
	store, target, err := d.read()
	switch {
	case err != nil:
		return nil, err
	case store != nil:
		o.Name = store.Name
		err = withTimeout(ctx, store.Timeout, func(ctx context.Context) (err error) {
			o.close, err = connect(ctx, store)
			return err
		})
	default:
		o.Name = target.name
		if target.file != "" {
			err = checkFile(target.file, !d.Existing)
		}
		if err == nil {
			o.DB, o.close, err = target.connect(ctx)
		}
	}
	if err != nil {
		return nil, o.Wrap(err)
	}
	return o, nil
}

// Describe returns an SQL database's handle for what depends on its kind alone, or another store. It
// does not connect.
func (d DSN) Describe() (*gorm.DB, *Store, error) {
	store, target, err := d.read()
	if err != nil || store != nil {
		return nil, store, err
	}
	pool, dialector, err := target.open()
	if err != nil {
		return nil, nil, err
	}
	db, err := gorm.Open(described{dialector}, &gorm.Config{ConnPool: pool, DisableAutomaticPing: true})
	return db, nil, errors.Join(err, pool.Close())
}

// described asks no server for its version.
type described struct{ gorm.Dialector }

func (described) Initialize(*gorm.DB) error { return nil }

// read returns the store that the DSN names, or the target of an SQL database. The error is a [cli.UsageError].
func (d DSN) read() (store *Store, sql *target, err error) {
	if read := d.store(); read != nil {
		store, err = read(d.Text)
	} else {
		sql, err = parse(d.Text)
	}
	if err != nil {
		return nil, nil, cli.Usagef("%s: %w", d.Origin, err)
	}
	return store, sql, nil
}

// poolSize is how many connections to a database are open at most. PostgreSQL allows 100 by
// default, for all programs.
const poolSize = 24

// connect opens a pool and waits for its first connection, so that a wrong address
// is an error here and not later.
func (t *target) connect(ctx context.Context) (*gorm.DB, func() error, error) {
	pool, dialector, err := t.open()
	if err != nil {
		return nil, nil, err
	}
	var db *gorm.DB
	// By default a pool keeps two idle connections: 16 tags that are closed at a time would
	// make a new connection for each request.
	pool.SetMaxIdleConns(poolSize)
	pool.SetMaxOpenConns(poolSize)
	pool.SetConnMaxIdleTime(time.Minute)
	if err = withTimeout(ctx, t.timeout, pool.PingContext); err == nil {
		db, err = gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, DisableAutomaticPing: true})
	}
	if err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}
	return db, pool.Close, nil
}

func withTimeout(ctx context.Context, timeout time.Duration, connect func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := connect(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil, errors.Is(err, context.DeadlineExceeded): // the client's own
		return fmt.Errorf("no answer within %v: is this the address of a database? (%w)", timeout.Round(time.Millisecond), err)
	}
	return err
}

// checkFolder returns why a folder can have no new files.
func checkFolder(folder string) error {
	probe, err := os.CreateTemp(folder, ".uidring-*")
	if err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err // the probe's name would mislead
		}
		return fmt.Errorf("cannot create a file in directory %q: %w", folder, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// checkFile returns what is wrong with an SQLite file. SQLite itself reports "out of
// memory" for many files that it cannot open.
func checkFile(path string, create bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		if !create {
			return errors.New("there is no such file; create it with uidring gen or uidring segments create")
		}
		folder := filepath.Dir(path)
		if _, err := os.Stat(folder); err != nil {
			return fmt.Errorf("there is no folder %q", folder)
		}
		return checkFolder(folder)
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // to open a FIFO would wait for its writer
		return fmt.Errorf("its mode is %v, want a regular file", info.Mode())
	}
	flag := os.O_RDONLY
	if create {
		flag = os.O_RDWR
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if info.Size() > 0 && !isSQLite(file) {
		return errors.New("it is not an SQLite file; name another with --dsn, or move it away")
	}
	return nil
}
