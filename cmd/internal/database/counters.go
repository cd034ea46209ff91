package database

import (
	"context"
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
	dsn, table := Of(cmd, stores), cmd.Flag("table")
	if table.Changed && !dsn.SQL() {
		return nil, cli.Usagef("--table is for SQL databases, but %s names none", dsn.Origin)
	}
	return dsn.Counters(cmd.Context(), table.Value.String(), create, logger)
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
	*Opened
	Store CounterStore
}

// Counters connects to the store. table is for SQL databases. With create, Counters makes
// a missing SQLite file.
func (d DSN) Counters(ctx context.Context, table string, create bool, logger *slog.Logger) (*Counters, error) {
	d.Existing = !create
	if store, _, err := d.read(); err == nil && store != nil && store.Counters == nil {
		return nil, cli.Usagef("%s: %s keeps no counters; want an SQL database or Redis", d.Origin, store.Name)
	}
	c := new(Counters)
	var err error
	c.Opened, err = d.open(ctx, func(ctx context.Context, s *Store) (end func() error, err error) {
		c.Store, end, err = s.Counters(ctx, logger)
		return end, err
	})
	switch {
	case err != nil:
		return nil, err
	case c.DB == nil: // Counters of the store has set Store
	case table == Sequence:
		c.Store = segmentsql.NewSequence(c.DB, segmentsql.Config{Logger: logger})
	default:
		c.Store = segmentsql.NewLeafAlloc(c.DB, segmentsql.Config{Logger: logger})
	}
	return c, nil
}

// CompleteTag completes the tag of a counter.
func CompleteTag(stores Stores) cobra.CompletionFunc {
	return complete(func(ctx context.Context, cmd *cobra.Command) (tags []cobra.Completion) {
		open, err := CountersOf(cmd, stores, false, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil
		}
		defer open.Close()
		counters, _ := open.Store.List(ctx)
		for _, c := range counters {
			tags = append(tags, c.Tag)
		}
		return tags
	})
}
