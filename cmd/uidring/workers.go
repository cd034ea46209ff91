package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

func newWorkers() *cobra.Command {
	var (
		layout bits.Layout
		limit  int64 = 20
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "List worker numbers: who registered, and who holds a lease",
		Long: `workers lists the rows of two tables, as far as they are there, by number from the
highest down.

Of WORKER_NODE every row is a start of a generator, and its number is used up. How
many are left under a layout is reckoned from the newest row: where that was
deleted, fewer are.

Of WORKER_LEASE every row is a number that comes back, with its last holder: it is
held, or free, or expired when its holder has given no sign of life for a minute.
Free and expired ones go to those who start, whose ids begin where the time that
is reserved ends. All numbers but those that are held are left.

It changes nothing, and creates neither file nor table.`,
		Example: `  uidring workers
  uidring workers --limit 0 --json
  uidring workers --dsn postgres://user@localhost/app --layout long-lived
  uidring workers release 5`,
		Args:              releaseOrFlags,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			allocator, err := bits.NewAllocator(layout)
			if err != nil {
				return &usageError{err}
			}
			where := dsnOf(cmd)
			db, err := where.open(cmd.Context(), database.OpenExisting)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, database.Close(db)) }()
			list, err := newListing(cmd.Context(), db, &allocator, int(limit))
			if errors.Is(err, worker.ErrNoTable) {
				return fmt.Errorf("%s: there is no table %s and no table %s: no worker has taken a number there yet",
					where.origin, worker.DefaultTable, worker.DefaultLeaseTable)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
			}
			return list.write(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(number{&limit, 0, 1<<31 - 1}, "limit", "list this many rows of a table at most; 0 is all")
	complete(cmd, "limit")
	layoutFlag(cmd, &layout, "layout whose numbers are counted")
	flags.BoolVar(&asJSON, "json", false, "print one object: layout, last, max, left, workers, leases_left and leases")
	dsnFlag(cmd)
	cmd.AddCommand(newRelease())
	return cmd
}

// releaseOrFlags is what workers has for Args. Whoever misspells release gets here.
func releaseOrFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown argument %q: workers takes flags, or the command release", args[0])
	}
	return nil
}
