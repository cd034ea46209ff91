package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidhttp"
	"github.com/uidring/uidring/worker"
)

const (
	cachedName  = "cached"
	defaultName = "default"
)

// genFlags is what gen was told.
type genFlags struct {
	count     int64
	generator string
	worker    source
	layout    bits.Layout
	boost     int64
	padding   int64
	maxBorrow time.Duration
	rate      int64 // ids a second, 0 is no limit
	json      bool
	http      string
}

// maxRate is more ids a second than can be written.
const maxRate = 1_000_000_000

// cachedOnly are the flags that mean nothing to the default generator.
var cachedOnly = []string{"boost-power", "padding-factor", "max-borrow"}

func newGen() *cobra.Command {
	f := genFlags{
		count:     1,
		generator: cachedName,
		worker:    source{kind: registrySource},
		boost:     uid.DefaultBoostPower,
		padding:   uid.DefaultPaddingFactor,
	}
	cmd := &cobra.Command{
		Use:   "gen",
		Short: "Make ids",
		Long: `gen takes a worker number and prints ids, one a line. --worker says where the
number comes from:

  registry   a row of the table WORKER_NODE: each start has a number that no other
             start ever has
  lease      a row of the table WORKER_LEASE: the number is given back at the end
             and comes to others later; after a crash it is free in a minute
  static:N   no database; it is N

Table and SQLite file are created if they are missing. A URL with a password is
better given by $UIDRING_DSN, since arguments can be seen by others on the
machine. The tables do not know of each other's numbers: make ids of one layout
by one of them alone.

The cached generator runs ahead of the clock where more ids are asked for than
there is time for, by --max-borrow at most; then it goes on at the pace of the
clock. The default generator stamps the present, and waits for the next tick when
the ids of one are used up. With --rate either goes at that pace, ten batches a
second.

Under a leased number ids carry time that was reserved for it, some ten minutes
more than is used. When the database goes away they go on to the end of that, then
wait until it is back; standard error tells of it. If the number cannot be given
back in the end, that is an error, and the ids are good.

--worker static:N is your promise that nothing else makes ids under N with that
layout, and that nothing which did before, an earlier gen included, has stamped a
time that is yet to come: two runs within a second make the same ids.

With --http a status page shows the generator at work, for as long as the stream
lasts, and standard error tells where. The page asks nobody who they are: at an
address that other machines reach it needs a protection of its own in front of it.

An interrupt ends the stream after a whole line, with exit code 130.`,
		Example: `  uidring gen -n 5
  uidring gen -n 1000000 > ids.txt
  uidring gen --json --layout snowflake
  uidring gen --dsn mysql://user:password@localhost:3306/app -n 5
  uidring gen --worker lease -n 5
  uidring gen --worker static:7 --generator default
  uidring gen -n 1000000 --rate 5000 --http 127.0.0.1:8080 > ids.txt`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.generator == defaultName {
				for _, name := range cachedOnly {
					if cmd.Flags().Changed(name) {
						return usagef("--%s means nothing to --generator %s", name, defaultName)
					}
				}
			}
			if f.worker.kind == staticSource && cmd.Flags().Changed("dsn") {
				return usagef("--dsn means nothing to --worker %s", &f.worker)
			}
			if cmd.Flags().Changed("http") {
				if err := pageAddress(f.http); err != nil {
					return err
				}
			}
			if f.count == 0 {
				return nil
			}
			return gen(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.VarP(number{&f.count, 0, math.MaxInt64}, "count", "n", "how many ids; for 0, no worker number is taken")
	flags.Var(choice{&f.generator, []string{cachedName, defaultName}}, "generator", "cached or default")
	flags.Var(&f.worker, "worker", "where the worker number comes from: lease, registry, or static:N")
	layoutFlag(cmd, &f.layout, "layout of the ids")
	flags.Var(number{&f.boost, 1, uid.MaxBoostPower}, "boost-power", fmt.Sprintf("the cached generator's ring holds the ids of 2^this ticks; 1 to %d", uid.MaxBoostPower))
	flags.Var(number{&f.padding, 1, 99}, "padding-factor", "the ring is filled when it holds less than this, in per cent; 1 to 99")
	flags.DurationVar(&f.maxBorrow, "max-borrow", uid.DefaultMaxBorrow, "how far ahead of the clock ids may be stamped; negative is without bound")
	flags.Var(number{&f.rate, 0, maxRate}, "rate", "how many ids a second at most; 0 is as many as can be made")
	flags.BoolVar(&f.json, "json", false, "print objects with id (a string, for JavaScript's sake), time, worker and\nsequence, one a line")
	flags.StringVar(&f.http, "http", "", "serve a status page at this `address` while ids are made, such as 127.0.0.1:8080;\nport 0 is a free one")
	dsnFlag(cmd)
	complete(cmd, "generator", cachedName, defaultName)
	for _, name := range []string{"count", "boost-power", "padding-factor", "max-borrow", "rate", "http"} {
		complete(cmd, name)
	}
	complete(cmd, "worker", leaseSource, registrySource, staticSource)
	return cmd
}

func gen(cmd *cobra.Command, f genFlags) (err error) {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
	logger := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))

	var page *statusPage
	if f.http != "" { // before a worker number is used up
		if page, err = listenForPage(ctx, f.http); err != nil {
			return because(ctx, err)
		}
		defer page.end()
	}
	made, err := openGenerator(ctx, f, dsnOf(cmd), logger, out)
	if err != nil {
		return because(ctx, err)
	}
	defer func() { err = closed(cmd, made.Close(), err) }()
	if page != nil {
		page.show(f.generator, made, logger, cmd.ErrOrStderr())
	}
	// A generator that waits for the clock is woken up by closing it.
	defer context.AfterFunc(ctx, func() { _ = made.Close() })()

	allocator, err := bits.NewAllocator(f.layout)
	if err != nil {
		return err
	}
	s := &stream{made: made, bits: allocator, flushes: f.generator == defaultName, out: out, logger: logger}
	if f.rate > 0 {
		s.pace = rate.NewLimiter(rate.Limit(f.rate), max(1, int(f.rate/10))) // ten batches a second
	}
	if f.json {
		s.lines = jsonForm(allocator)
	}
	return because(ctx, finish(out, s.run(ctx, f.count)))
}

// closed reports that the generator was not closed well: its number was not given
// back. The ids are good all the same, so what err says of them stands, but for
// the exit code of a command that would else seem to have done it all.
func closed(cmd *cobra.Command, failed, err error) error {
	if failed == nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "uidring: the ids are good, but their number was not given back, and is held for up to %v: %s\n",
		worker.DefaultExpiry, oneLine(failed.Error()))
	if err == nil || errors.Is(err, errNoReader) {
		return errReported
	}
	return err
}

// because returns the reason why ctx has ended, if it has, in place of an error
// that came of it.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errNoReader) {
		return context.Cause(ctx)
	}
	return err
}

// opened is a generator that can be looked at.
type opened interface {
	generator
	uidhttp.Generator
}

// openGenerator takes a worker number and returns a generator of ids under it.
// Before ids are waited for, those in out are flushed.
func openGenerator(ctx context.Context, f genFlags, where place, logger *slog.Logger, out *bufio.Writer) (opened, error) {
	var assigner uid.Assigner
	switch from := (numbers{where, logger}); f.worker.kind {
	case staticSource:
		assigner = uid.StaticWorker(f.worker.number)
	case leaseSource:
		assigner = leases{from}
	default:
		assigner = registry{from}
	}
	config := uid.Config{Layout: f.layout, Logger: logger}
	if f.generator == defaultName {
		return uid.NewDefault(ctx, assigner, config)
	}
	config.BoostPower, config.PaddingFactor = int(f.boost), int(f.padding)
	config.MaxBorrow = f.maxBorrow
	if f.maxBorrow == 0 {
		config.MaxBorrow = 1 // zero would be the default; this is less than a tick
	}
	config.RejectedTake = func(r uid.Refusal) error {
		var reservation *uid.ReservationError
		switch {
		case errors.Is(r.Err, uid.ErrBorrowLimit):
			return out.Flush()
		case errors.As(r.Err, &reservation):
			if reservation.Err != nil {
				return r.Err // for the stream to wait, and to tell
			}
			return out.Flush() // it is under way
		}
		return nil
	}
	return uid.NewCached(ctx, assigner, config)
}
