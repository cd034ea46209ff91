package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

func newRelease() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "release NUMBER",
		Short: "Free a leased number whose holder is dead",
		Long: `release frees a number of the table WORKER_LEASE whose holder has not given it
back. If the holder has given a sign of life within the last minute, it may be
alive, and the number is left alone.

With --force it is freed all the same. A holder that is alive takes another number
at its next sign of life, and until then makes ids from time that stays its own.
Whoever takes the number next goes on where that time ends. So no id repeats,
either way.

Numbers of the table WORKER_NODE are used up for good, and cannot be freed.`,
		Example: `  uidring workers release 5
  uidring workers release 5 --force
  uidring workers release 5 --dsn postgres://user@localhost/app`,
		Args:              oneNumber,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			number, err := parseNumber(args[0])
			if err != nil {
				return err
			}
			where := dsnOf(cmd)
			db, err := where.open(cmd.Context(), database.OpenExisting)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, database.Close(db)) }()
			err = worker.NewLeaser(db).Free(cmd.Context(), number, force)
			switch {
			case errors.Is(err, worker.ErrNoTable):
				return fmt.Errorf("%s: there is no table %s: no worker has leased a number there yet", where.origin, worker.DefaultLeaseTable)
			case errors.Is(err, worker.ErrNoLease):
				return fmt.Errorf("%s: number %d is not in the table %s: nobody has leased it yet", where.origin, number, worker.DefaultLeaseTable)
			case errors.Is(err, worker.ErrHeld):
				return fmt.Errorf("%s: number %d is held: its holder has given a sign of life within the last %v; --force frees it "+
					"all the same: the holder then takes another number at its next sign of life, and no id repeats",
					where.origin, number, worker.DefaultExpiry)
			case err != nil:
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "number %d is free\n", number)
			return err
		},
	}
	cmd.SetFlagErrorFunc(negativeMeans("numbers are not negative"))
	cmd.Flags().BoolVar(&force, "force", false, "free the number though its holder may be alive; it then takes another")
	dsnFlag(cmd)
	return cmd
}

// oneNumber is what release has for Args.
func oneNumber(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want the number of one lease, as workers lists it", len(args))
	}
	_, err := parseNumber(args[0])
	return err
}

func parseNumber(text string) (int64, error) {
	number, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, usagef("%q is no worker number: want a whole number from 0 on", text)
	}
	return int64(number), nil
}
