// Package segments is the subcommand that lists, makes and raises counters.
package segments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// New returns the subcommand.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "segments",
		Short: "List the counters of segments",
		Long: `segments lists counters: a tag, the least id that nobody has reserved, how many ids
a process reserves at first, and when the counter last moved. It changes nothing,
and creates neither file nor table.

The step 0 means a gapless counter. Processes reserve ranges ahead, so ids below the counter may not be in use yet.
Only the command create makes a counter. Ids of a counter have no time: uidring
parse cannot read them.`,
		Example: `  uidring segments
  uidring segments create orders
  uidring segments set orders --at-least 1000000
  uidring segments --json --dsn postgres://user@localhost/app
  uidring gen --segment orders -n 5`,
		Args:              cli.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var counters []segment.Counter
			err := with(cmd, false, func(store *segmentsql.Store, _ string) (err error) {
				counters, err = store.List(cmd.Context())
				if errors.Is(err, segment.ErrUnknownTag) {
					return fmt.Errorf("there is no %s: uidring segments create TAG makes it", store)
				}
				return err
			})
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeJSON(cmd.OutOrStdout(), counters)
			}
			return write(cmd.OutOrStdout(), counters)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object a line: tag, next (a string, for JavaScript), step and updated")
	flags(cmd)
	cmd.AddCommand(newCreate(), newSet())
	return cmd
}

func flags(cmd *cobra.Command) {
	database.TableFlag(cmd)
	database.Flag(cmd, nil)
}

// with calls f with the counters of the command's database, and with its name. A
// missing file is made if create is set.
func with(cmd *cobra.Command, create bool, f func(store *segmentsql.Store, name string) error) (err error) {
	open := database.Place.OpenExisting
	if create {
		open = database.Place.Open
	}
	db, err := open(database.Of(cmd, nil), cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Wrap(f(db.Counters(cmd), db.Name))
}

// write prints a table for people. A dash stands for a value that the store does not
// keep.
func write(w io.Writer, counters []segment.Counter) error {
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

func writeJSON(w io.Writer, counters []segment.Counter) error {
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
