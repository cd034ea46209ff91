package database

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// The tables of counters in SQL databases: Leaf's, and SEQUENCE(table_name, next_id).
const (
	LeafAlloc = "leaf_alloc"
	Sequence  = "sequence"
)

// TableFlag adds --table, which names the table of the counters.
func TableFlag(cmd *cobra.Command) {
	kind := LeafAlloc
	words := []string{LeafAlloc, Sequence}
	cmd.Flags().Var(cli.Choice{Value: &kind, Words: words}, "table", "table of the counters: leaf_alloc is Leaf's, sequence is\nSEQUENCE(table_name, next_id)")
	cli.Complete(cmd, "table", words...)
}

// CountersOf opens the counters of a command that has [Flag] and [TableFlag].
func CountersOf(cmd *cobra.Command, stores Stores, create bool, logger *slog.Logger) (*Counters, error) {
	place, table := Of(cmd, stores), cmd.Flag("table")
	if table.Changed && !place.SQL() {
		return nil, cli.Usagef("--table is for SQL databases, and %s names none", place.Origin)
	}
	return place.Counters(cmd.Context(), table.Value.String(), create, logger)
}

// CounterStore is a store of counters.
type CounterStore interface {
	segment.Store
	segment.Creator
	segment.Raiser
	segment.Lister
}

// Counters is an open store of counters. It is safe for concurrent use.
type Counters struct {
	Store CounterStore
	Name  string            // for messages: without password and options
	SQL   *segmentsql.Store // nil if the store is no SQL database
	close func() error
	at    Place
}

// Counters connects to the place. table is for SQL databases. With create, Counters makes
// a missing SQLite file.
func (p Place) Counters(ctx context.Context, table string, create bool, logger *slog.Logger) (*Counters, error) {
	read := p.store()
	if read == nil {
		db, err := p.open(ctx, create)
		if err != nil {
			return nil, err
		}
		store := segmentsql.LeafAlloc(db.DB, segmentsql.Config{Logger: logger})
		if table == Sequence {
			store = segmentsql.Sequence(db.DB, segmentsql.Config{Logger: logger})
		}
		return &Counters{store, db.Name, store, db.Close, p}, nil
	}
	store, err := read(p.DSN)
	if err == nil && store.Counters == nil {
		err = fmt.Errorf("%s keeps no counters; want an SQL database or Redis", store.Name)
	}
	if err != nil {
		return nil, p.usage(err)
	}
	c := &Counters{Name: store.Name, at: p}
	err = within(ctx, store.Timeout, func(ctx context.Context) (err error) {
		c.Store, c.close, err = store.Counters(ctx, logger)
		return err
	})
	if err != nil {
		return nil, p.Fault(store.Name, err)
	}
	return c, nil
}

// Wrap returns err with the name of the store. It returns nil for nil.
func (c *Counters) Wrap(err error) error { return c.at.Fault(c.Name, err) }

// Close closes the connection. Close generators first.
func (c *Counters) Close() error { return c.Wrap(c.close()) }
