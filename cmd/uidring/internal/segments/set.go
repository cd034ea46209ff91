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

func newSet() *cobra.Command {
	var least int64
	cmd := &cobra.Command{
		Use:   "set TAG --at-least N",
		Short: "Raise a counter",
		Long: `set raises a counter to N. It never lowers one, and never makes one.

Use set after the database was restored or failed over. Stop the services, and raise
each counter above the highest id that is in use anywhere. A process that runs issues
the ids that it has reserved, whatever the counter is. If set does not raise the
counter, the process may return unused ids at its end, which lowers the counter.`,
		Example: `  uidring segments set orders --at-least 1000001
  uidring segments set orders --at-least 1000001 --dsn postgres://user@localhost/app`,
		Args:              oneTag,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if least == 0 {
				return cli.Usagef("want --at-least N, for example --at-least 1000001")
			}
			tag, counter := cli.Printable(args[0]), segment.Counter{Tag: args[0]}
			wanted := segment.NextFor(args[0], least)
			err := with(cmd, false, func(store *segmentsql.Store, _ string) (err error) {
				counter.Next, err = store.Raise(cmd.Context(), args[0], wanted)
				if errors.Is(err, segment.ErrUnknownTag) {
					return fmt.Errorf("%s has no counter in %s; uidring segments create makes it", tag, store)
				}
				return err
			})
			if err != nil {
				return err
			}
			text := fmt.Sprintf("the counter of %s is %d", tag, counter.NextID())
			if counter.Next > wanted {
				text += fmt.Sprintf(": it was above %d already; a process that runs may return ids at its end, which lowers it", least)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().Var(cli.Number{Value: &least, Min: 1, Max: math.MaxInt64}, "at-least", "the least value of the next id")
	cli.Example(cmd, "at-least", "1000001")
	flags(cmd)
	return cmd
}
