// Package backfill is the subcommand that fills a column of a table with ids of the rows' own times.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

type flags struct {
	stores                   database.Stores
	table, key, time, column string
	store                    string // of the worker numbers, if it is not the table's database
	layout                   bits.Layout
	zone                     *time.Location
	batch, rate              int64
	pause                    time.Duration
	dryRun                   bool
}

// New returns the subcommand. It takes worker numbers from stores too, not only from SQL databases.
func New(stores database.Stores) *cobra.Command {
	f := flags{stores: stores, batch: 500, zone: time.UTC}
	cmd := &cobra.Command{
		Use:   "backfill",
		Short: "Give the rows of a table ids that carry their ages",
		Long: `backfill fills the column in each row where it is NULL, oldest row first, with an id
that carries the row's time. It changes no other row and no other column, except through
triggers. First deploy the service that gives new rows their ids. docs/migrating.md in
https://github.com/uidring/uidring shows the whole way.

The ids have the layout that the service's store of worker numbers remembers, and a
worker number that was never given out, so the service's generators keep running. That
store is the table's database unless --store names another.

Each batch is one UPDATE, which commits by itself. You may end backfill at any time: the
same command continues. It retries while the database is unavailable, for two minutes.
--rate and --pause leave the service more of the database.

If a tick has more rows than it can have ids, the rest get the ticks that follow. At the
end, backfill fills the rows that came meanwhile without an id, reads the whole table to
check that no row lacks an id, that no two are equal and that each has its row's time,
and prints the SQL that comes next.

A time without a zone is read as UTC, or as --zone says.`,
		Example: `  uidring backfill --table orders --key id --time created_at --column uid --dsn mysql://user@localhost/app
  uidring backfill --table orders --key id --time created_at --column uid --dry-run
  uidring backfill --table orders --key id --time created_at --column uid --rate 5000`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			return cli.CauseOf(ctx, f.run(ctx, cmd))
		},
	}
	set := cmd.Flags()
	set.StringVar(&f.table, "table", "", "`table` to fill, such as orders or shop.orders")
	set.StringVar(&f.key, "key", "", "`column` that identifies a row: its primary key, or one with a unique index")
	set.StringVar(&f.time, "time", "", "`column` with the time that the id carries, such as created_at")
	set.StringVar(&f.column, "column", "", "`column` to fill: a BIGINT that may be NULL")
	for _, name := range []string{"table", "key", "time", "column"} {
		_ = cmd.MarkFlagRequired(name)
	}
	set.StringVar(&f.store, "store", "", "`store` of the worker numbers of the service's generators\n(default the database of --dsn)")
	cli.LayoutFlag(cmd, &f.layout, "layout of the ids", "the one that the store remembers")
	set.Func("zone", "`zone` of times without one, such as Europe/Paris (default UTC)", func(text string) (err error) {
		f.zone, err = time.LoadLocation(text)
		return err
	})
	set.Var(cli.Number{Value: &f.batch, Min: 1, Max: maxBatch}, "batch", fmt.Sprintf("rows per UPDATE; 1 to %d", maxBatch))
	set.Var(cli.Number{Value: &f.rate, Max: math.MaxInt32}, "rate", "rows a second, at most; 0 means no limit")
	set.DurationVar(&f.pause, "pause", 0, "pause after each batch")
	set.BoolVar(&f.dryRun, "dry-run", false, "check everything, and change nothing")
	database.Flag(cmd, nil)
	return cmd
}

func (f *flags) run(ctx context.Context, cmd *cobra.Command) (err error) {
	dsn := database.Of(cmd, nil)
	dsn.Existing = true
	open, err := dsn.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	t, err := look(ctx, open.DB, f)
	if err != nil {
		return open.Wrap(err)
	}
	t.notify = func(format string, args ...any) { cli.Notify(cmd, format, args...) }
	if f.store != "" {
		dsn = database.DSN{Text: f.store, Origin: "--store", Stores: f.stores, Existing: true}
	}
	logger := cli.Logger(cmd)
	numbers, err := dsn.Leases(ctx, lease.Config{Logger: logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Close()) }()
	layout, err := f.settle(ctx, numbers)
	if err != nil {
		return numbers.Wrap(err)
	}
	if t.ids, err = bits.NewAllocator(layout); err != nil {
		return err
	}
	found, err := t.survey(ctx)
	if err != nil {
		return open.Wrap(err)
	}
	t.warn()
	if f.dryRun {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s; they would get ids of the layout %s; nothing was changed\n", t.name, found, layout)
		return err
	}
	fill := &filler{table: t, flags: f, stderr: cmd.ErrOrStderr(), workers: map[int64]bool{}, open: func(ctx context.Context) (*uid.Backfill, error) {
		b, err := uid.NewBackfill(ctx, numbers.Leaser, uid.BackfillConfig{Layout: layout, MaxTicks: 1 << 16, Logger: logger})
		if kind, ok := errors.AsType[*worker.KindError](err); ok {
			err = fmt.Errorf("%s: write a program with uid.NewBackfill and a range of numbers that no generator has had", kind.Way())
		}
		return b, numbers.Wrap(cli.AtStart(err))
	}}
	if err := fill.run(ctx, found); err != nil {
		if fill.filled > 0 || ctx.Err() != nil { // the last answer may be lost
			t.notify("at least %d rows of %s have got their ids; the same command continues", fill.filled, t.name)
		}
		return open.Wrap(err)
	}
	report, err := t.verify(ctx, fill)
	if err != nil {
		return open.Wrap(err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "-- %s: %s\n%s", t.name, report, t.next())
	return err
}

// settle returns the layout of the ids: the one that the store of worker numbers remembers. Without one,
// --layout must state it: nobody can know which layout the service has.
func (f *flags) settle(ctx context.Context, numbers *database.Leases) (bits.Layout, error) {
	text, stored, err := numbers.Layout(ctx)
	stated := f.layout != (bits.Layout{})
	switch {
	case stated && (err == nil && !stored || errors.Is(err, lease.ErrLayout)):
		return f.layout, nil
	case err != nil:
		return bits.Layout{}, numbers.InFlags(err)
	case !stored:
		return bits.Layout{}, errors.New("no generator has taken a worker number there: start the service that gives new rows their ids, " +
			"or name the store of its worker numbers with --store")
	case stated && f.layout.String() != text:
		return bits.Layout{}, fmt.Errorf("its ids have the layout %s, and --layout is %s: leave out --layout, or name another --store", text, f.layout)
	}
	return bits.ParseLayout(text)
}
