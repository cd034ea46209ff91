package layout

import (
	"errors"
	"fmt"
	"io"
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

// succession is what there is to say of the ids of two layouts. From is zero if ids of both are generated at a time.
type succession struct {
	Next    string     `json:"next"`
	From    time.Time  `json:"from,omitzero"`
	Used    int64      `json:"used"`                    // -1 is none
	Ordered bool       `json:"ordered"`                 // every new id is greater than every old one
	Meet    *period    `json:"meet,omitempty"`          // when ids can collide; nil is never
	Fresh   *numbering `json:"fresh_numbers,omitempty"` // nil if there are none
	Why     string     `json:"why,omitempty"`           // there are none
	Order   string     `json:"order,omitempty"`         // how new ids sort, if ids of both layouts are generated at a time
}

type period struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

type numbering struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

func newSuccession(old, next bits.Layout, since, from time.Time, used int64) (*succession, error) {
	s, err := bits.NewSuccession(old, next, since, from)
	if err != nil {
		return nil, err
	}
	answer := &succession{Next: next.String(), From: from, Used: used, Ordered: s.Ordered}
	if !s.From.IsZero() {
		answer.Meet = &period{s.From, s.Until}
	}
	if first, last, ok := s.FreshNumbers(used); ok {
		answer.Fresh = &numbering{first, last}
	}
	return answer, nil
}

// planned returns what layout change would do.
func planned(cmd *cobra.Command, stores database.Stores, next bits.Layout) (s *succession, err error) {
	err = database.WithLeases(cmd.Context(), cmd, stores, func(open *database.Leases) error {
		change, err := open.PlanLayout(cmd.Context(), next)
		s = &succession{Next: change.To.String(), Used: change.Used}
		switch {
		case errors.Is(err, lease.ErrExhausted):
			s.Why = cli.WithoutPrefix(err)
			return nil
		case err == nil && change.From.String() == s.Next:
			return cli.Usagef("--next is the layout that the database remembers")
		}
		s.Order = order(change.From, change.To)
		s.Fresh = &numbering{change.Numbers.From, min(change.Numbers.To, 1<<change.To.WorkerBits-1)}
		return err
	})
	return s, err
}

func (s *succession) write(w io.Writer) {
	if s.From.IsZero() {
		fmt.Fprintf(w, "\nnext\t%s, beside generators of the old layout\n", s.Next)
		if s.Fresh == nil {
			fmt.Fprintf(w, "numbers\tnone: %s\n", s.Why)
		} else {
			fmt.Fprintf(w, "numbers\t%d to %d, which layout change would leave, as numbers up to %d have been given\norder\t%s\n", s.Fresh.First, s.Fresh.Last, s.Used, s.Order)
		}
		return
	}
	fmt.Fprintf(w, "\nnext\t%s from %s on\n", s.Next, s.From.Format(time.RFC3339Nano))
	switch {
	case s.Ordered:
		fmt.Fprintf(w, "equal\tnever: every new id is greater than every old one\n")
		return
	case s.Meet == nil:
		fmt.Fprintf(w, "equal\tnever, but new ids are smaller than old ones\n")
		return
	}
	fmt.Fprintf(w, "equal\tnew ids stamped from %s to %s can equal old ones\n",
		s.Meet.From.Format(time.RFC3339Nano), s.Meet.Until.Format(time.RFC3339Nano))
	if s.Fresh == nil {
		fmt.Fprintf(w, "numbers\tnone keeps new ids apart from those under the numbers 0 to %d\n", s.Used)
		return
	}
	fmt.Fprintf(w, "numbers\t%d to %d keep new ids apart from those under the numbers 0 to %d\n", s.Fresh.First, s.Fresh.Last, s.Used)
}
