package workers

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker"
)

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
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cli.OneArg("greatest worker number in use")(cmd, args); err != nil {
				return err
			}
			given, err := strconv.ParseUint(args[0], 10, 62)
			if err != nil || given == 0 {
				return fmt.Errorf("%q is not a worker number: want a whole number, 1 or more", args[0])
			}
			number = int64(given)
			return nil
		},
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
