package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/database"
)

const (
	dsnVariable = "UIDRING_DSN"
	dsnDefault  = "uidring.db"
)

// dsnFlag adds --dsn. Its default is not the variable's value, since help would
// show that, and with it a password.
func dsnFlag(cmd *cobra.Command) {
	cmd.Flags().String("dsn", "", "database: the path of an SQLite file or a `URL` (sqlite:, mysql:, postgres:)\n"+
		"(default $"+dsnVariable+", else "+dsnDefault+" in the current directory)")
}

// place is a database and how it was given, for errors.
type place struct{ dsn, origin string }

func dsnOf(cmd *cobra.Command) place {
	if flag := cmd.Flags().Lookup("dsn"); flag.Changed {
		return place{flag.Value.String(), "--dsn"}
	}
	if dsn := os.Getenv(dsnVariable); dsn != "" {
		return place{dsn, dsnVariable}
	}
	return place{dsnDefault, "default database " + dsnDefault}
}

// open connects to the database, and gives up when ctx ends: a server that does
// not answer can take minutes.
func (p place) open(ctx context.Context, open func(url string) (*gorm.DB, error)) (*gorm.DB, error) {
	type handle struct {
		db  *gorm.DB
		err error
	}
	opened := make(chan handle)
	go func() {
		db, err := open(p.dsn)
		select {
		case opened <- handle{db, err}:
		case <-ctx.Done():
			_ = database.Close(db) // nobody has used it
		}
	}()
	select {
	case r := <-opened:
		if errors.Is(r.err, database.ErrNoFile) {
			return nil, fmt.Errorf("%s: SQLite file %q: there is no such file; gen creates it, or name another with --dsn", p.origin, p.dsn)
		}
		if r.err != nil {
			return nil, fmt.Errorf("%s: %w", p.origin, r.err)
		}
		return r.db, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: open: %w", p.origin, context.Cause(ctx))
	}
}
