// Package layout is the subcommand that describes layouts.
package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/uid"
)

// New returns the subcommand. Its database may be one of stores.
func New(stores database.Stores) *cobra.Command {
	var (
		next        bits.Layout
		since, from time.Time
		used        int64
		asJSON      bool
		all         bool
		sql         string
		wished      wishes
	)
	cmd := &cobra.Command{
		Use:   "layout [LAYOUT]",
		Short: "Show a layout's capacity, its end, and what may follow it",
		Long: `layout describes a layout: its worker numbers, ids per second and end. Without LAYOUT,
it describes the one that the database remembers. If no database is named, and there is
no uidring.db in the current directory, it lists the named layouts, and --sql and --next
use fleet. --list always lists the named layouts.

LAYOUT is a name, or the widths of ticks, worker and sequence, such as 31/23/9. These count
seconds from 2026-01-01, midnight UTC, unless ,epoch=DATE and ,unit=DURATION follow. The epoch
may also be an RFC 3339 timestamp.

With --workers, --years and --rate, it proposes a layout: a named one, if one
suffices. If no layout fits, it prints how far each requirement alone would have to be
relaxed and what that costs, and exits with 1.

With --next, it compares two layouts whose ids share a database column. It shows whether
new ids can equal old ids, when, and under which worker numbers they never do. With
LAYOUT, new ids begin at --from, which must be later than the time of every old id. Without
LAYOUT, it shows the worker numbers that layout change would leave, beside generators
that keep the old layout.

With --sql, it prints expressions for PostgreSQL, for MySQL and MariaDB, or for
SQLite: the time of an id, its worker number with the named parts, its sequence, the
reversed id, and the least and the greatest id of an instant, for WHERE id BETWEEN.
If the database has changed its layout, it prints them for each layout, and those of one
are NULL for ids of the others. Use them in queries and views: nothing is created in the database.`,
		Example: `  uidring layout --list
  uidring layout --workers 500 --years 12 --rate 20000
  uidring layout --workers 50 --years 20 --rate 500 --js
  uidring layout --workers 50 --years 20 --rate 500 --registry --starts-a-day 100
  uidring layout 41/datacenter:5+machine:5/12,unit=1ms
  uidring layout baidu --next registry --from 2026-01-01 --used 5000
  uidring layout --sql postgres --dsn postgres://user@localhost/app`,
		Args: cli.AtMostOneArg("layout, such as fleet"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return bits.PresetNames(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			flags := cmd.Flags()
			if !flags.Changed("next") {
				for _, name := range []string{"from", "since", "used"} {
					if flags.Changed(name) {
						return cli.Usagef("--%s needs --next, the layout that follows", name)
					}
				}
			}
			if flags.Changed("workers") {
				if len(args) > 0 {
					return cli.Usagef("--workers proposes a layout: leave out %q", args[0])
				}
				a, err := wished.answer(cmd.OutOrStdout(), time.Now())
				if err != nil {
					return err
				}
				return a.print(cmd.OutOrStdout(), asJSON)
			}
			for _, name := range []string{"js", "registry"} {
				if flags.Changed(name) {
					return cli.Usagef("--%s needs --workers, --years and --rate", name)
				}
			}
			if all && len(args) > 0 {
				return cli.Usagef("--list lists all named layouts: leave out %q", args[0])
			}
			var old format.Layouts
			var err error
			if !all {
				if old, err = of(cmd, stores, args); err != nil {
					return err
				}
			}
			if all || len(args) == 0 && !flags.Changed("next") && sql == "" && old.Store == "" {
				return list(cmd.OutOrStdout(), asJSON)
			}
			if sql != "" {
				text, err := printSQL(old, sql)
				if err != nil {
					return &cli.UsageError{Err: err}
				}
				_, err = io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			a, err := newAnswer(old)
			if err != nil {
				return err
			}
			switch {
			case !flags.Changed("next"):
			case old.Store != "":
				for _, name := range []string{"from", "since", "used"} {
					if flags.Changed(name) {
						return cli.Usagef("--%s needs LAYOUT, the old one: of %s, layout change knows what has been used", name, old.Store)
					}
				}
				if a.Succession, err = planned(cmd, stores, next); err != nil {
					return err
				}
			default:
				if !flags.Changed("from") {
					from = time.Now().UTC().Truncate(time.Second)
				}
				if !flags.Changed("used") {
					used = a.GreatestWorker
				} else if used > a.GreatestWorker {
					return cli.Usagef("--used is %d, want 0 to %d for %s", used, a.GreatestWorker, a.Layout)
				}
				if a.Succession, err = newSuccession(old.Layout, next, since, from, used); err != nil {
					return &cli.UsageError{Err: err}
				}
			}
			return a.print(cmd.OutOrStdout(), asJSON)
		},
	}
	flags := cmd.Flags()
	flags.TextVar(&next, "next", bits.Layout{}, "the `layout` that follows this one")
	instant := func(at *time.Time) func(string) error {
		return func(text string) (err error) {
			if *at, err = time.Parse(time.DateOnly, text); err != nil {
				*at, err = time.Parse(time.RFC3339, text)
			}
			if err != nil {
				return errors.New("want a date, such as 2026-01-01, or an RFC 3339 timestamp")
			}
			return nil
		}
	}
	flags.Func("from", "`date` or RFC 3339 time at which the next layout begins (default now)", instant(&from))
	flags.Func("since", "`date` or RFC 3339 time at which the old layout's ids begin (default its epoch)", instant(&since))
	flags.Var(cli.Number{Value: &used, Max: 1<<63 - 1}, "used", "greatest worker `number` of old ids (default the layout's greatest)")
	flags.BoolVar(&all, "list", false, "list the named layouts")
	flags.BoolVar(&asJSON, "json", false, "print each layout as one line of JSON")
	flags.Var(cli.Choice{Value: &sql, Words: sqlKinds}, "sql", "print SQL expressions for the layout's ids, for a `database`: "+strings.Join(sqlKinds, ", "))
	wished.add(cmd)
	database.Flag(cmd, stores)
	cmd.MarkFlagsMutuallyExclusive("dsn", "workers")
	cmd.MarkFlagsMutuallyExclusive("sql", "json")
	cmd.MarkFlagsMutuallyExclusive("list", "sql", "next", "workers")
	cmd.MarkFlagsMutuallyExclusive("list", "dsn")
	cli.Complete(cmd, "sql", sqlKinds...)
	cli.Complete(cmd, "next", bits.PresetNames()...)
	cmd.AddCommand(newChange(stores))
	return cmd
}

// of returns the layout of the argument, or the one that is found.
func of(cmd *cobra.Command, stores database.Stores, args []string) (format.Layouts, error) {
	if len(args) == 0 {
		return database.FindLayout(cmd.Context(), cmd, stores, bits.Layout{})
	}
	if cmd.Flags().Changed("dsn") {
		return format.Layouts{}, cli.Usagef("--dsn finds the layout: leave out %q", args[0])
	}
	layout, err := bits.ParseLayout(args[0])
	if err != nil {
		err = &cli.UsageError{Err: err}
	}
	return format.LayoutAlone(layout), err
}

func list(w io.Writer, asJSON bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(table, "NAME\tLAYOUT\tIDS A SECOND\tWORKERS\tJAVASCRIPT\tEND")
	}
	for _, name := range bits.PresetNames() {
		layout, err := bits.ParseLayout(name)
		if err != nil {
			return err
		}
		a, err := newAnswer(format.LayoutAlone(layout))
		if err != nil {
			return err
		}
		a.Name = name
		if asJSON {
			if err := json.NewEncoder(w).Encode(a); err != nil {
				return err
			}
			continue
		}
		end := a.End.Format(time.RFC3339)
		if a.End.Before(time.Now()) {
			end += ", so it has ended"
		}
		fmt.Fprintf(table, "%s\t%s\t%.15g\t%d\t%s\t%s\n", name, a.Layout, a.Rate, a.GreatestWorker+1, a.exact(), end)
	}
	return table.Flush()
}

// answer is what there is to say of a layout. Parts are those of a worker number. Reserve is
// how many numbers a proposed layout has beyond those that were asked for.
type answer struct {
	Name           string      `json:"name,omitempty"`
	Layout         string      `json:"layout"`
	Bits           int         `json:"bits"`
	Epoch          time.Time   `json:"epoch"`
	Unit           string      `json:"unit"`
	IDs            int64       `json:"ids_per_tick"`
	Rate           float64     `json:"ids_per_second"`
	Burst          float64     `json:"burst"`
	JavaScript     bool        `json:"exact_in_javascript"`
	GreatestWorker int64       `json:"greatest_worker"`
	Numbers        *numbering  `json:"worker_numbers,omitempty"` // of the layout's ids, since a change
	Earlier        []earlier   `json:"earlier,omitempty"`
	Parts          []part      `json:"worker_parts,omitempty"`
	End            time.Time   `json:"end"`
	Succession     *succession `json:"succession,omitempty"`
	Reserve        *int64      `json:"reserve,omitempty"`
	Go             string      `json:"go,omitempty"`
	YAML           string      `json:"yaml,omitempty"`
}

// earlier is a layout that ids of the database had before a change.
type earlier struct {
	Layout string `json:"layout"`
	numbering
}

type part struct {
	Name string `json:"name"`
	Bits uint8  `json:"bits"`
}

// rate is how many ids a second one worker number has.
func rate(layout bits.Layout) float64 {
	return float64(int64(1)<<layout.SequenceBits) / layout.Unit.Seconds()
}

func newAnswer(of format.Layouts) (*answer, error) {
	layout := of.Layout
	ids, err := bits.NewAllocator(layout)
	if err != nil {
		return nil, err
	}
	a := &answer{
		Layout:         layout.String(),
		Bits:           layout.Bits(),
		Epoch:          layout.Epoch,
		Unit:           layout.Unit.String(),
		IDs:            ids.MaxSequence() + 1,
		Rate:           rate(layout),
		JavaScript:     layout.Bits() <= exactBits,
		GreatestWorker: ids.MaxWorker(),
		End:            layout.End(),
	}
	a.Burst = a.Rate * uid.DefaultMaxBorrow.Seconds()
	if of.Numbers != format.All {
		a.Numbers = &numbering{of.Numbers.From, min(of.Numbers.To, a.GreatestWorker)}
	}
	for _, e := range of.Earlier {
		if e.Numbers.From <= e.Numbers.To {
			a.Earlier = append(a.Earlier, earlier{e.Layout.String(), numbering{e.Numbers.From, e.Numbers.To}})
		}
	}
	for _, p := range format.PartsOf(ids, 0) {
		a.Parts = append(a.Parts, part{p.Name, p.Bits})
	}
	return a, nil
}

// exactBits is how many bits a number of JavaScript holds exactly.
const exactBits = 53

func (a *answer) exact() string {
	if a.JavaScript {
		return "exact"
	}
	return "as a string"
}

func (a *answer) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(a)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	end := "ends"
	if !time.Now().Before(a.End) {
		end = "ended"
	}
	fmt.Fprintf(table, "layout\t%s\n", a.Layout)
	fmt.Fprintf(table, "bits\t%d of %d\n", a.Bits, bits.TotalBits)
	if a.Numbers == nil {
		fmt.Fprintf(table, "workers\t0 to %d\n", a.GreatestWorker)
	} else {
		fmt.Fprintf(table, "workers\t%d to %d, since the layout changed\n", a.Numbers.First, a.Numbers.Last)
	}
	for _, e := range a.Earlier {
		fmt.Fprintf(table, "earlier\t%s, under the numbers %d to %d\n", e.Layout, e.First, e.Last)
	}
	for _, p := range a.Parts {
		fmt.Fprintf(table, "\t%s: 0 to %d\n", p.Name, int64(1)<<p.Bits-1)
	}
	if a.Reserve != nil {
		fmt.Fprintf(table, "reserve\t%d numbers beyond those that are needed\n", *a.Reserve)
	}
	fmt.Fprintf(table, "ids\t%.15g a second for each worker: %d in each tick of %s\n", a.Rate, a.IDs, a.Unit)
	fmt.Fprintf(table, "burst\t%.15g ids at once, stamped up to %v ahead of the clock (MaxBorrow; in uidringd, max_borrow)\n", a.Burst, uid.DefaultMaxBorrow)
	fmt.Fprintf(table, "in JavaScript\t%s\n", a.exact())
	fmt.Fprintf(table, "begins\t%s\n", a.Epoch.Format(time.RFC3339Nano))
	fmt.Fprintf(table, "%s\t%s\n", end, a.End.Format(time.RFC3339Nano))
	switch {
	case a.Go != "":
		fmt.Fprintf(table, "\nGo\t%s\nYAML\t%s\n", a.Go, a.YAML)
	case a.Succession == nil:
		fmt.Fprintf(table, "next\tlayout change --to another layout; --dry-run shows what it would do\n")
	default:
		a.Succession.write(table)
	}
	return table.Flush()
}
