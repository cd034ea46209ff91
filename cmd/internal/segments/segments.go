// Package segments is the subcommand that lists, makes and raises counters.
package segments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// New returns the subcommand. It reads stores too, not only SQL databases.
func New(stores database.Stores) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "segments",
		Short: "List the segment counters",
		Long: `segments lists counters: the tag, the lowest id that nobody has reserved, how many ids
a process reserves at first, and when the counter last changed. The command changes
nothing, and creates neither files nor tables.

A step of 0 means a gapless counter. Processes reserve ranges in advance, so ids below
the counter may not be in use yet. To create a counter, use segments create. Ids from a
counter carry no time: for them, uidring parse prints nonsense.`,
		Example: `  uidring segments
  uidring segments create orders
  uidring segments set orders --at-least 1000000
  uidring segments --json --dsn postgres://user@localhost/app
  uidring gen --segment orders -n 5`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var counters []segment.CounterInfo
			missing := ""
			err := with(cmd, stores, false, func(open *database.Counters) (err error) {
				counters, err = open.Store.List(cmd.Context())
				if errors.Is(err, segment.ErrUnknownTag) { // of no tag: the table is missing
					missing, err = fmt.Sprintf("%s of %s", open.Store, open.Name), nil
				}
				return err
			})
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeJSON(cmd.OutOrStdout(), counters)
			case missing != "":
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "there are no counters yet: %s create TAG creates the first, in %s\n", cmd.CommandPath(), missing)
				return err
			}
			return write(cmd.OutOrStdout(), counters)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line: tag, next (a string, for JavaScript), step and updated")
	flags(cmd, stores)
	cmd.AddCommand(newCreate(stores), newSet(stores))
	return cmd
}

func flags(cmd *cobra.Command, stores database.Stores) {
	database.TableFlag(cmd)
	counting := maps.Clone(stores)
	maps.DeleteFunc(counting, func(scheme string, _ func(string) (*database.Store, error)) bool {
		return database.Kinds[scheme] != database.Redis // the others keep no counters
	})
	database.Flag(cmd, counting)
}

// with calls f with the counters that the command names. A missing file is made if create
// is set.
func with(cmd *cobra.Command, stores database.Stores, create bool, f func(*database.Counters) error) error {
	open, err := database.CountersOf(cmd, stores, create, slog.Default())
	if err != nil {
		return err
	}
	return errors.Join(open.Wrap(f(open)), open.Close())
}

// write prints a table for people. A dash stands for a value that the store does not
// keep.
func write(w io.Writer, counters []segment.CounterInfo) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TAG\tNEXT\tSTEP\tUPDATED")
	for _, c := range counters {
		updated := "-"
		if !c.Updated.IsZero() {
			updated = c.Updated.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", cli.Printable(c.Tag), c.NextID(), c.Step, updated)
	}
	return table.Flush()
}

func writeJSON(w io.Writer, counters []segment.CounterInfo) error {
	lines := json.NewEncoder(w)
	for _, c := range counters {
		if err := lines.Encode(struct {
			Tag     string    `json:"tag"`
			Next    int64     `json:"next,string"`
			Step    int64     `json:"step"`
			Updated time.Time `json:"updated,omitzero"`
		}{c.Tag, c.NextID(), c.Step, c.Updated.UTC()}); err != nil {
			return err
		}
	}
	return nil
}

// newTag matches the tag of a counter that may be made. Only Striped's tags have blanks.
var newTag = regexp.MustCompile(`^\S+( \d+/\d+ x\d+)?$`)

func newCreate(stores database.Stores) *cobra.Command {
	next, step, gapless := int64(1), int64(segment.DefaultStep), false
	cmd := &cobra.Command{
		Use:   "create TAG",
		Short: "Create a counter",
		Long: `create creates a counter, and also the table or the SQLite file if it is missing. It
fails if the tag already has a counter.

If your table already has ids, start above the highest id with --next. If a counter
was lost, start above the highest id ever reserved, or ids will repeat.

A gapless counter is for numbers that must have no gaps, such as invoice numbers. Services
draw them with segmentsql's NextGapless. A segment cannot use such a counter.

For segment.NewStriped with three stores, the first store's tag is "orders 1/3 x1000".`,
		Example: `  uidring segments create orders
  uidring segments create orders --next 1000001 --step 5000
  uidring segments create invoices --gapless
  uidring segments create orders --table sequence --dsn mysql://user@localhost:3306/app`,
		Args: oneTag,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !newTag.MatchString(args[0]) {
				return cli.Usagef("the tag %q has a space; want one without", args[0])
			}
			tag, place := cli.Printable(args[0]), ""
			counter := segment.CounterInfo{Tag: args[0], Next: segment.NextFor(args[0], next)}
			if counter.NextID() == math.MaxInt64 {
				return cli.Usagef("--next %d leaves no id for %s; the greatest id is %d", next, tag, int64(math.MaxInt64-1))
			}
			err := with(cmd, stores, true, func(open *database.Counters) (err error) {
				place = fmt.Sprintf("%s of %s", open.Store, open.Name)
				switch sql, ok := open.Store.(*segmentsql.Store); {
				case !gapless:
					err = open.Store.Create(cmd.Context(), args[0], counter.Next, step)
				case !ok:
					err = errors.New("gapless counters need an SQL database")
				default:
					err = sql.CreateGapless(cmd.Context(), args[0], counter.Next)
				}
				if errors.Is(err, segment.ErrTagExists) {
					return fmt.Errorf("%s has a counter already; raise it with uidring segments set", tag)
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
	cmd.Flags().Var(cli.Number{Value: &step, Min: 1, Max: math.MaxInt32}, "step", "how many ids a process reserves at first; the sequence table does not store it")
	cmd.Flags().BoolVar(&gapless, "gapless", false, "create a gapless counter")
	cmd.MarkFlagsMutuallyExclusive("gapless", "step")
	flags(cmd, stores)
	return cmd
}

func oneTag(cmd *cobra.Command, args []string) error {
	if err := cli.OneArg("tag, such as orders")(cmd, args); err != nil {
		return err
	}
	return segment.CheckTag(args[0])
}

func newSet(stores database.Stores) *cobra.Command {
	var least int64
	cmd := &cobra.Command{
		Use:   "set TAG --at-least N",
		Short: "Raise a counter",
		Long: `set raises a counter to N. It never lowers or creates one.

Use set after the database is restored from a backup, or after a failover that may
have lost writes. Stop the services, and raise each counter above the highest id in use
anywhere. A running process goes on issuing the ids that it has reserved, whatever the
counter says. When it stops, it may return unused ids, which lowers the counter unless
set has raised it.`,
		Example: `  uidring segments set orders --at-least 1000001
  uidring segments set orders --at-least 1000001 --dsn postgres://user@localhost/app`,
		Args:              oneTag,
		ValidArgsFunction: database.CompleteTag(stores),
		RunE: func(cmd *cobra.Command, args []string) error {
			if least == 0 {
				return cli.Usagef("want --at-least N, for example --at-least 1000001")
			}
			tag, counter := cli.Printable(args[0]), segment.CounterInfo{Tag: args[0]}
			wanted := segment.NextFor(args[0], least)
			err := with(cmd, stores, false, func(open *database.Counters) (err error) {
				counter.Next, err = open.Store.Raise(cmd.Context(), args[0], wanted)
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
	cmd.Flags().Var(cli.Number{Value: &least, Min: 1, Max: math.MaxInt64}, "at-least", "the minimum for the next id")
	flags(cmd, stores)
	return cmd
}
