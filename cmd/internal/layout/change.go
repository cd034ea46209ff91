package layout

import (
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

func newChange(stores database.Stores) *cobra.Command {
	var (
		to     bits.Layout
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "change --to LAYOUT",
		Short: "Change the layout that the database remembers",
		Long: `change records a new layout in the database, and the worker numbers whose ids cannot
equal earlier ones. If there are no such numbers, it says why, and changes nothing.

Generators that run keep the old layout. Restart them one after another: each that states no
layout takes the new one. First take the old layout out of their configs, because a start
that states it is refused from now on.

change cannot account for ids that are generated without this database, by static numbers
or in other languages. Stop those generators first.

If change is stopped halfway, starts wait: run it again, with the same layout or with the
old one. Later, change --to the old layout may lead back, under numbers never used before.`,
		Example: `  uidring layout change --to fleet --dry-run --dsn mysql://root@localhost/app
  uidring layout change --to fleet --dsn mysql://root@localhost/app`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("to") {
				return cli.Usagef("--to is missing, want the new layout, such as fleet")
			}
			if now := time.Now(); now.Before(to.Epoch) || !now.Before(to.End()) {
				return cli.Usagef("--to is %s, whose ids have times from %s to %s; want a layout of today", to, to.Epoch.Format(time.RFC3339), to.End().Format(time.RFC3339))
			}
			var change lease.LayoutChange
			err := database.WithLeases(cmd.Context(), cmd, stores, func(open *database.Leases) (err error) {
				apply := open.ChangeLayout
				if dryRun {
					apply = open.PlanLayout
				}
				change, err = apply(cmd.Context(), to)
				return open.InFlags(err)
			})
			if err != nil {
				return err
			}
			return show(cmd, change, dryRun)
		},
	}
	cmd.Flags().TextVar(&to, "to", bits.Layout{}, "the new `layout`: a name or widths, as uidring layout --help says")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing, and say what would change")
	database.Flag(cmd, stores)
	cli.Complete(cmd, "to", bits.PresetNames()...)
	return cmd
}

func show(cmd *cobra.Command, change lease.LayoutChange, dryRun bool) error {
	if change.From.String() == change.To.String() {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "the database remembers %s: nothing to change\n", change.To)
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	given := fmt.Sprintf("numbers up to %d have been given, under this layout or earlier ones", change.Used)
	if change.Used < 0 {
		given = "no number has been given yet"
	}
	capacity := func(l bits.Layout) string {
		return fmt.Sprintf("until %s, %.15g ids a second of each number", l.End().Format(time.DateOnly), rate(l))
	}
	fmt.Fprintf(table, "old\t%s: %s\n\t%s\n", change.From, given, capacity(change.From))
	fmt.Fprintf(table, "new\t%s, under the numbers %d to %d, whose ids equal no earlier ones\n\t%s\n",
		change.To, change.Numbers.From, min(change.Numbers.To, 1<<change.To.WorkerBits-1), capacity(change.To))
	fmt.Fprintf(table, "order\t%s\n", order(change.From, change.To))
	if dryRun {
		fmt.Fprintf(table, "\tnothing was changed\n")
	} else {
		fmt.Fprintf(table, "next\trestart the generators one after another; those that run keep the old layout\n")
	}
	return table.Flush()
}

// order says how ids that are made from now on sort among those of the layout before.
func order(old, next bits.Layout) string {
	width := func(l bits.Layout) uint8 { return l.WorkerBits + l.SequenceBits }
	first := func(l bits.Layout, at time.Time) float64 {
		return math.Ldexp(float64(at.Sub(l.Epoch)/l.Unit), int(width(l)))
	}
	now := time.Now()
	switch {
	case old.Epoch.Equal(next.Epoch) && old.Unit == next.Unit && width(old) == width(next):
		return "new and old ids sort by their time"
	case first(next, now) > first(old, now.Add(uid.DefaultMaxBorrow)):
		return "new ids are greater than old ones"
	}
	return "new ids are smaller than old ones, so ORDER BY id mixes both; order by a column with the time"
}
