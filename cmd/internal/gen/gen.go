// Package gen is the subcommand that makes ids.
package gen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

const (
	cachedName  = "cached"
	defaultName = "default"
)

// New returns the subcommand. It leases worker numbers from stores too, not only from
// SQL databases.
func New(stores database.Stores) *cobra.Command {
	f := flags{
		stores:    stores,
		count:     1,
		generator: cachedName,
		worker:    source.Source{Kind: source.Lease},
		padding:   uid.DefaultPaddingFactor,
	}
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Generate ids",
		Long: `gen takes a worker number and prints ids, one per line. --worker selects the source
of the number:

  lease      a row of the table WORKER_LEASE: gen releases the number when it
             exits; after a crash, the number becomes free a minute later (default)
  registry   a row of the table WORKER_NODE: the number is never used again
  static:N   the number N, from no database: without --layout, gen only asks the database
             for the layout, as parse does, or uses fleet if there is none

--segment TAG instead draws small, dense ids from a counter, without time or worker.
Create the counter with uidring segments create TAG. On exit, gen returns the ids that it
reserved but did not print.

If a table or an SQLite file is missing, gen creates it and says so on standard
error. The store remembers the layout of its first start; in WORKER_NODE, the row with
the id -1 records it. Without --layout, gen follows that record, and says on standard
error which layout and worker number it has. To undo a trial, delete the file, or see
"Undo a trial" in docs/choosing.md. Other users of the machine can see arguments, so pass
a DSN with a password in $UIDRING_DSN.

If you ask for more ids than the clock has allowed so far, gen stamps ids up to
--max-borrow ahead of the clock, and then waits. With --generator default, gen stamps ids
with the current time, and waits for the next tick when the current one is full.

For a leased number, time is reserved in the database. While the database is
unavailable, gen continues to the end of that time, and then waits and says so on
standard error. If gen cannot release the number, it fails, though the ids are valid.

With --worker static:N you promise that nothing else generates ids with N and this
layout, not even an earlier gen in the same second, whose ids would be the same.

gen generates ids as fast as they are read: pipe it through pv to limit the rate. To serve
ids over HTTP, run uidringd.

On an interrupt, gen completes the current line and exits with code 130.`,
		Example: `  uidring gen -n 5
  uidring gen -n 1000000 > ids.txt
  uidring gen -n 1000000 | pv -qlL 100      100 ids a second
  uidring gen --json --layout snowflake
  uidring gen --form base32 -n 3
  uidring gen --dsn mysql://user@localhost:3306/app -n 5
  uidring gen --worker registry -n 5
  uidring gen --segment orders -n 5
  uidring gen --worker static:7 --generator default`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			form, err := f.text.Open()
			if err != nil || f.count == 0 {
				return err
			}
			return f.generate(cmd, form)
		},
	}
	f.add(cmd)
	return cmd
}

// lines returns what appends the line of an id. Objects have the layout of the generator.
func (f *flags) lines(form format.Text) (func(b []byte, id uid.ID) ([]byte, error), error) {
	if !f.json {
		return func(b []byte, id uid.ID) ([]byte, error) { return append(form.Append(b, id), '\n'), nil }, nil
	}
	allocator, err := bits.NewAllocator(f.layout)
	if err != nil {
		return nil, err
	}
	object := format.JSON(allocator)
	return func(b []byte, id uid.ID) ([]byte, error) { return object.Append(b, int64(id), "") }, nil
}

func (f *flags) generate(cmd *cobra.Command, form format.Text) (err error) {
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	s := &stream{out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16), logger: cli.Logger(cmd)}
	s.shown = cli.Progress(cmd.ErrOrStderr(), f.count, "ids")
	if cli.Terminal(cmd.OutOrStdout()) { // which shows the ids
		s.shown = cli.Progress(io.Discard, f.count, "")
	}
	made, end, err := f.open(ctx, cmd, s.logger)
	if err != nil {
		return cli.CauseOf(ctx, cli.AtStart(err))
	}
	s.made, end = made, sync.OnceValue(end)
	defer func() { err = f.closed(cmd, end(), err) }()
	// A generator that waits for the clock is woken up by closing it.
	defer context.AfterFunc(ctx, func() { _ = end() })()
	if s.lines, err = f.lines(form); err != nil {
		return err
	}
	return cli.CauseOf(ctx, cli.Finish(s.out, s.run(ctx, f.count)))
}

// closed reports a generator that could not give back its number or the rest of its
// range. The ids are good: closed changes the exit code only if err's is 0.
func (f *flags) closed(cmd *cobra.Command, failed, err error) error {
	if failed == nil {
		return err
	}
	lost := fmt.Sprintf("their worker number was not given back, and stays held for up to %v", lease.DefaultExpiry)
	if f.segment != "" {
		lost = "the rest of their range may not be returned, and is then a gap"
	}
	cli.Notify(cmd, "the ids are good, but %s: %s", lost, cli.WithoutPrefix(failed))
	if err == nil || errors.Is(err, cli.ErrNoReader) {
		return cli.ErrReported
	}
	return err
}

// open starts a generator. end closes it, and the connection that keeps its number or its counter.
func (f *flags) open(ctx context.Context, cmd *cobra.Command, logger *slog.Logger) (made uid.Generator, end func() error, err error) {
	if f.segment != "" {
		return f.openSegment(ctx, cmd, logger)
	}
	from := &numbers{flags: f, cmd: cmd, logger: logger, origin: fromDefault}
	if f.layout != (bits.Layout{}) {
		from.origin = fromFlag
	}
	var leaser uid.WorkerSource = from
	if f.worker.Kind == source.Static {
		if from.name, err = f.findLayout(ctx, cmd); err != nil {
			return nil, nil, err
		}
		if from.name != "" && from.origin == fromDefault {
			from.origin = fromStore
		}
		leaser = lease.NewStatic(f.worker.Number)
	}
	clocked, err := f.start(ctx, leaser, logger)
	if err != nil {
		return nil, nil, errors.Join(err, from.end(nil))
	}
	where := "--worker " + f.worker.String()
	switch {
	case from.name != "" && f.worker.Kind == source.Static:
		from.origin += ", " + from.name
	case from.name != "":
		where += " in " + from.name
	}
	f.layout = clocked.Layout()
	cli.Notify(cmd, "worker number %d (%s), layout %s (%s)", clocked.Worker(), where, f.layout, from.origin)
	return clocked, func() error { return from.end(clocked.Close()) }, nil
}

func (f *flags) openSegment(ctx context.Context, cmd *cobra.Command, logger *slog.Logger) (made uid.Generator, end func() error, err error) {
	counters, err := database.CountersOf(cmd, f.stores, false, logger)
	if err != nil {
		return nil, nil, err
	}
	counter, err := segment.New(ctx, counters.Store, f.segment, segment.Config{Logger: logger})
	if err != nil {
		return nil, nil, errors.Join(counters.Wrap(err), counters.Close())
	}
	return counter, func() error { return errors.Join(counters.Wrap(counter.Close()), counters.Close()) }, nil
}

// findLayout finds the layout of a generator with a fixed number, as parse does for its ids, and returns the name of the store
// that remembers it.
func (f *flags) findLayout(ctx context.Context, cmd *cobra.Command) (store string, err error) {
	found, err := database.FindLayout(ctx, cmd, f.stores, f.layout)
	if numbers := found.Numbers; err == nil && (f.worker.Number < numbers.From || f.worker.Number > numbers.To) {
		err = cli.Usagef("--worker %s: since the layout of %s changed, want a worker number from %d to %d, or another --dsn",
			f.worker, found.Store, numbers.From, min(numbers.To, 1<<found.Layout.WorkerBits-1))
	}
	f.layout = found.Layout
	return found.Store, err
}

// clocked is a generator under a worker number.
type clocked interface {
	uid.Generator
	Layout() bits.Layout
	Worker() int64
}

func (f *flags) start(ctx context.Context, from uid.WorkerSource, logger *slog.Logger) (clocked, error) {
	if f.generator == defaultName {
		return uid.NewDefault(ctx, from, uid.DefaultConfig{Layout: f.layout, Logger: logger})
	}
	return uid.NewCached(ctx, from, f.config(logger))
}
