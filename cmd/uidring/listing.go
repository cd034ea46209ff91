package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/worker"
)

// listing is what workers prints. A table that is not there has no rows, which in
// JSON is no different from an empty one.
type listing struct {
	Layout     string            `json:"layout"`
	Last       int64             `json:"last"` // number of the newest row; 0 for none
	Max        int64             `json:"max"`  // number that the layout can hold
	Left       int64             `json:"left"` // numbers above Last
	Workers    []worker.Row      `json:"workers"`
	LeasesLeft int64             `json:"leases_left"` // numbers from 0 to Max without a live holder
	Leases     []worker.LeaseRow `json:"leases"`

	registry, leases bool // the table is there
}

// newListing reads both tables. Its error matches worker.ErrNoTable if neither is
// there.
func newListing(ctx context.Context, db *gorm.DB, a *bits.Allocator, limit int) (*listing, error) {
	l := &listing{Layout: a.Layout().String(), Max: a.MaxWorker(), Workers: []worker.Row{}, Leases: []worker.LeaseRow{}}
	rows, noRegistry := worker.NewRegistry(db).Nodes(ctx, limit)
	if noRegistry == nil {
		l.registry, l.Workers = true, rows
	} else if !errors.Is(noRegistry, worker.ErrNoTable) {
		return nil, noRegistry
	}
	leases, noLeases := worker.NewLeaser(db).Leases(ctx, 0) // all, since the held ones are counted
	if noLeases == nil {
		l.leases, l.Leases = true, leases
	} else if !errors.Is(noLeases, worker.ErrNoTable) || noRegistry != nil {
		return nil, noLeases
	}

	if len(l.Workers) > 0 {
		l.Last = l.Workers[0].ID
	}
	l.Left = max(0, l.Max-l.Last)
	l.LeasesLeft = l.Max + 1
	for _, row := range l.Leases {
		if row.State == worker.Held && row.Number <= l.Max {
			l.LeasesLeft--
		}
	}
	if limit > 0 {
		l.Leases = l.Leases[:min(limit, len(l.Leases))]
	}
	return l, nil
}

// write prints tables for people.
func (l *listing) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if l.registry {
		fmt.Fprintln(table, "WORKER\tHOST\tPORT\tTYPE\tCREATED")
		for _, row := range l.Workers {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", row.ID, printable(row.HostName), printable(row.Port), row.Type, instant(row.Created))
		}
		fmt.Fprintf(table, "\n%d of %d numbers are left under %s\n", l.Left, l.Max, l.Layout)
	}
	if l.registry && l.leases {
		fmt.Fprintln(table)
	}
	if l.leases {
		fmt.Fprintln(table, "LEASE\tSTATE\tHOST\tPORT\tTYPE\tLAST BEAT\tRESERVED UNTIL")
		for _, row := range l.Leases {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Number, row.State,
				printable(row.Host), printable(row.Port), row.Type, instant(row.HeartbeatAt), instant(row.ReservedUntil))
		}
		fmt.Fprintf(table, "\n%d of %d numbers are left to lease under %s\n", l.LeasesLeft, l.Max+1, l.Layout)
	}
	return table.Flush()
}

// printable keeps what a row holds from steering the terminal.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}
