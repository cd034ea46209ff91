// Package workers is the subcommand that lists and frees worker numbers.
package workers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// interval is how often --watch lists.
const interval = 2 * time.Second

// New returns the subcommand. It reads stores too, not only SQL databases.
func New(stores database.Stores) *cobra.Command {
	var (
		stated bits.Layout
		limit  int64 = 20
		asJSON bool
		watch  bool
	)
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "List worker numbers and their holders",
		Long: `workers lists two kinds of numbers, highest first. The command changes nothing, and
creates neither files nor tables.

Each row of WORKER_NODE is one start of a registry's generator, whose number is never
used again. Rows whose numbers were drawn to be leased are not listed. Only numbers above
the newest row's are left. After a change of the layout, only the new layout's numbers
count, and workers says how many generators that hold a number have yet to restart.

Each row of WORKER_LEASE, or lease in another store, is a number with its last
holder. The number is held, free or expired: it is listed as expired if its holder has
sent no heartbeat for a minute, even if its service sets a longer Expiry. A new
generator may take a free number, or one whose holder has sent no heartbeat for the
generator's own Expiry. These, and numbers above the newest row's of WORKER_NODE, count
as remaining.

HOST is the pod's name in Kubernetes, and PROCESS the process id. On a terminal, held
numbers are green and expired ones red, unless NO_COLOR is set.`,
		Example: `  uidring workers
  uidring workers --watch
  uidring workers --limit 0 --json
  uidring workers --dsn postgres://user@localhost/app --layout long-lived
  uidring workers release 5`,
		Args: cli.NoArgs,
	}
	show := func(cmd *cobra.Command) error {
		var list *Listing
		err := database.WithLeases(cmd.Context(), cmd, stores, func(open *database.Leases) error {
			var found format.Layouts
			var change string
			var unknown error
			if stated != (bits.Layout{}) {
				found, change, unknown = planned(cmd.Context(), open, stated)
			} else if found, unknown = open.Remembered(cmd.Context()); unknown != nil {
				found.Layout = bits.Fleet() // to see whether there are tables
			}
			allocator, err := bits.NewAllocator(found.Layout)
			if err != nil {
				return err
			}
			list, err = newListing(cmd.Context(), open, allocator, found.Numbers, int(limit))
			if errors.Is(err, worker.ErrNoTable) {
				return errors.New("there is no table WORKER_NODE and no table WORKER_LEASE: no worker has taken a number there yet")
			}
			if list != nil {
				list.Change = change
			}
			return cmp.Or(err, unknown)
		})
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
		}
		if watch && cli.Terminal(cmd.OutOrStdout()) {
			fmt.Fprint(cmd.OutOrStdout(), "\x1b[H\x1b[2J") // clears the screen
		}
		return list.write(cmd.OutOrStdout())
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := show(cmd)
		if !watch {
			return err
		}
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		for err == nil {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(interval):
				err = show(cmd)
			}
		}
		return err
	}
	flags := cmd.Flags()
	flags.Var(cli.Number{Value: &limit, Max: 1<<31 - 1}, "limit", "list at most this many rows of each table; 0 means all")
	cli.LayoutFlag(cmd, &stated, "layout whose numbers are counted, after a change to it", "the one that the store remembers")
	flags.BoolVar(&asJSON, "json", false, "print one object: layout, last, max, left, workers, leases_left, earlier and leases,\nand change if --layout is not the store's")
	flags.BoolVar(&watch, "watch", false, fmt.Sprintf("refresh the list every %v until interrupted", interval))
	database.Flag(cmd, stores)
	cmd.AddCommand(newRelease(stores), newRaise(stores))
	return cmd
}

// planned returns the numbers that ids of a layout may have, and what a change to it would do if the store has another.
func planned(ctx context.Context, open *database.Leases, layout bits.Layout) (found format.Layouts, change string, err error) {
	found = format.LayoutAlone(layout)
	plan, err := open.PlanLayout(ctx, layout)
	switch {
	case errors.Is(err, lease.ErrLayout): // the store remembers none
		return found, "", nil
	case errors.Is(err, lease.ErrExhausted):
		found.Numbers = lease.Range{From: 1 << layout.WorkerBits, To: 1 << layout.WorkerBits}
		return found, cli.WithoutPrefix(err), nil
	case err == nil:
		found.Numbers = plan.Numbers
		if plan.From != plan.To {
			change = fmt.Sprintf("the store remembers %s; after layout change --to %s, ids have the numbers %d to %d",
				plan.From, plan.To, plan.Numbers.From, min(plan.Numbers.To, 1<<plan.To.WorkerBits-1))
		}
	}
	return found, change, err
}

// oneNumber has a command take one argument, which wanted describes: a number from least to most.
func oneNumber(number *int64, least, most uint64, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cli.OneArg(wanted)(cmd, args); err != nil {
			return err
		}
		given, err := strconv.ParseUint(args[0], 10, 63)
		if err != nil || given < least || given > most {
			return fmt.Errorf("%q is not a worker number: want a whole number from %d to %d", args[0], least, most)
		}
		*number = int64(given)
		return nil
	}
}

func newRelease(stores database.Stores) *cobra.Command {
	var (
		number int64
		force  bool
	)
	cmd := &cobra.Command{
		Use:   "release NUMBER",
		Short: "Free a leased number whose holder is dead",
		Long: `release frees a leased number that its holder has not given back. It fails if the
holder has sent a heartbeat within the last minute. If its service sets an Expiry of
more than four minutes, heartbeats are more than a minute apart, so release can free
the number of a live holder.

--force always frees the number. A live holder continues, within the time that it has
reserved, until it takes another number. The next holder of the freed number starts
where that time ends, so no id repeats.

Numbers from the table WORKER_NODE are used only once, and cannot be freed.`,
		Example: `  uidring workers release 5
  uidring workers release 5 --force
  uidring workers release 5 --dsn postgres://user@localhost/app`,
		Args:              oneNumber(&number, 0, math.MaxInt64, "number of a lease, as workers lists it"),
		ValidArgsFunction: database.CompleteNumber(stores),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := database.WithLeases(cmd.Context(), cmd, stores, func(open *database.Leases) error {
				free := open.Free
				if force {
					free = open.Revoke
				}
				err := free(cmd.Context(), number)
				switch {
				case errors.Is(err, worker.ErrNoTable):
					err = errors.New("there is no table WORKER_LEASE: no worker has leased a number there yet")
				case errors.Is(err, lease.ErrNoLease):
					err = fmt.Errorf("number %d has no lease: nobody has leased it yet", number)
				case errors.Is(err, lease.ErrHeld):
					err = fmt.Errorf("number %d is held: its holder has sent a heartbeat within the last %v; --force frees the number anyway: "+
						"the holder then stops using it, and no id repeats", number, lease.DefaultExpiry)
				}
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "number %d is free\n", number)
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also free the number of a live holder, which then takes another")
	database.Flag(cmd, stores)
	return cmd
}

func newRaise(stores database.Stores) *cobra.Command {
	var number int64
	cmd := &cobra.Command{
		Use:   "raise NUMBER",
		Short: "Give out no number up to NUMBER as new again",
		Long: `raise is for an SQL database that has lost the last worker numbers that it gave out: a
backup was restored, a table was truncated, or a promoted replica lags behind. NUMBER is
the greatest number in use since then, as generators log it when they start. Numbers that
are given out as new are greater afterwards.

raise never lowers anything, so it may run at any time, beside running generators, and
again. Where ranges of numbers are in the configs, run it once for each range, with a
number of the range.`,
		Example: `  uidring workers raise 5000 --dsn mysql://root@localhost/app`,
		Args:    oneNumber(&number, 1, 1<<62-1, "greatest worker number in use"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := database.WithLeases(cmd.Context(), cmd, stores, func(open *database.Leases) error {
				store, ok := open.Store.(*worker.Store)
				if !ok {
					return errors.New("only SQL databases have a counter that can be raised")
				}
				return store.Raise(cmd.Context(), number)
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "new numbers are above %d\n", number)
			return err
		},
	}
	database.Flag(cmd, stores)
	return cmd
}
