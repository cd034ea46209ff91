package layout

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/worker/lease"
)

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

// earlier is a layout that ids of the database had before a change.
type earlier struct {
	Layout string `json:"layout"`
	numbering
}

// remember adds what the database knows of the layout.
func (a *answer) remember(found format.Layouts) {
	if found.Numbers != format.All {
		a.Numbers = &numbering{found.Numbers.From, min(found.Numbers.To, a.GreatestWorker)}
	}
	for _, e := range found.Earlier {
		if e.Numbers.From <= e.Numbers.To {
			a.Earlier = append(a.Earlier, earlier{e.Layout.String(), numbering{e.Numbers.From, e.Numbers.To}})
		}
	}
}

func (a *answer) writeWorkers(w io.Writer) {
	if a.Numbers == nil {
		fmt.Fprintf(w, "workers\t0 to %d\n", a.GreatestWorker)
	} else {
		fmt.Fprintf(w, "workers\t%d to %d, since the layout changed\n", a.Numbers.First, a.Numbers.Last)
	}
	for _, e := range a.Earlier {
		fmt.Fprintf(w, "earlier\t%s, under the numbers %d to %d\n", e.Layout, e.First, e.Last)
	}
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
