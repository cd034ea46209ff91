package segments

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

func newCreate() *cobra.Command {
	next, step, gapless := int64(1), int64(segment.DefaultStep), false
	cmd := &cobra.Command{
		Use:   "create TAG",
		Short: "Make a counter",
		Long: `create makes a counter, and the table or the SQLite file if they are missing. It
fails if the tag has a counter.

If a table has ids already, start above the highest id with --next. If a counter
was lost, start above the highest id that was ever reserved: otherwise ids repeat.

A gapless counter is for numbers without a gap, such as those of invoices. Services
draw them with segmentsql's NextGapless; it is no counter for segments.

For segment.Stripe with three stores, the first store's tag is "orders 1/3 x1000".`,
		Example: `  uidring segments create orders
  uidring segments create orders --next 1000001 --step 5000
  uidring segments create invoices --gapless
  uidring segments create orders --table sequence --dsn mysql://user@localhost:3306/app`,
		Args:              oneTag,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			tag, place := cli.Printable(args[0]), ""
			counter := segment.Counter{Tag: args[0], Next: segment.NextFor(args[0], next)}
			if counter.NextID() == math.MaxInt64 {
				return cli.Usagef("--next %d leaves no id for %s; the greatest id is %d", next, tag, int64(math.MaxInt64-1))
			}
			err := with(cmd, true, func(store *segmentsql.Store, name string) error {
				place = fmt.Sprintf("%s of %s", store, name)
				create := func() error { return store.Create(cmd.Context(), args[0], counter.Next, step) }
				if gapless {
					create = func() error { return store.CreateGapless(cmd.Context(), args[0], counter.Next) }
				}
				err := create()
				if errors.Is(err, segment.ErrTagExists) {
					return fmt.Errorf("%s has a counter already; uidring segments set raises it", tag)
				}
				return err
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s begins at %d, in %s\n", tag, counter.NextID(), place)
			}
			return err
		},
	}
	cmd.Flags().Var(cli.Number{Value: &next, Min: 1, Max: math.MaxInt64}, "next", "the first id")
	cmd.Flags().Var(cli.Number{Value: &step, Min: 1, Max: math.MaxInt32}, "step", "how many ids a process reserves at first; the table sequence does not keep it")
	cmd.Flags().BoolVar(&gapless, "gapless", false, "make a counter of numbers without a gap")
	cmd.MarkFlagsMutuallyExclusive("gapless", "step")
	cli.Complete(cmd, "next")
	cli.Complete(cmd, "step")
	flags(cmd)
	return cmd
}

func oneTag(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: want one tag, such as orders", len(args))
	}
	return segment.CheckTag(args[0])
}
