package workers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Listing is what workers prints. A table that is not there has no rows, which in
// JSON is no different from an empty one.
type Listing struct {
	Layout     string           `json:"layout"`
	Last       int64            `json:"last"` // number of the newest row; 0 for none
	Max        int64            `json:"max"`  // number that the layout can hold
	Left       int64            `json:"left"` // numbers above Last
	Workers    []worker.NodeRow `json:"workers"`
	LeasesLeft int64            `json:"leases_left"` // numbers from 0 to Max without a live holder
	Leases     []lease.Info     `json:"leases"`

	registry, leases bool // the table is there
}

// newListing reads both tables of an SQL database, or the leases of another store. Its
// error matches worker.ErrNoTable if neither table is there.
func newListing(ctx context.Context, open *database.Leases, a *bits.Allocator, limit int) (*Listing, error) {
	l := &Listing{Layout: a.Layout().String(), Max: a.MaxWorker(), Workers: []worker.NodeRow{}, Leases: []lease.Info{}}
	noRegistry := worker.ErrNoTable
	if open.DB != nil {
		rows, err := worker.NewRegistry(open.DB, worker.RegistryConfig{}).Nodes(ctx, limit)
		if err == nil {
			l.registry, l.Workers = true, rows
		} else if !errors.Is(err, worker.ErrNoTable) {
			return nil, err
		}
		noRegistry = err
	}
	leases, noLeases := open.Leases(ctx, 0) // all, since the held ones are counted
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
		if row.State == lease.StateHeld && row.Number <= l.Max {
			l.LeasesLeft--
		}
	}
	if limit > 0 {
		l.Leases = l.Leases[:min(limit, len(l.Leases))]
	}
	return l, nil
}

func (l *Listing) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if l.registry {
		fmt.Fprintln(table, "WORKER\tHOST\tPORT\tTYPE\tCREATED")
		for _, row := range l.Workers {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", row.ID, cli.Printable(row.HostName), port(row.Port, row.Type), row.Type, instant(row.Created))
		}
		fmt.Fprintf(table, "\n%d of %d numbers are left under %s\n", l.Left, l.Max, l.Layout)
	}
	if l.registry && l.leases {
		fmt.Fprintln(table)
	}
	if l.leases {
		fmt.Fprintln(table, "LEASE\tSTATE\tHOST\tPORT\tTYPE\tRENEWED\tRESERVED UNTIL")
		for _, row := range l.Leases {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Number, row.State,
				cli.Printable(row.Host), port(row.Port, row.Type), row.Type, instant(row.HeartbeatAt), instant(row.ReservedUntil))
		}
		fmt.Fprintf(table, "\n%d of %d numbers are left to lease under %s\n", l.LeasesLeft, l.Max+1, l.Layout)
	}
	actual := func(row worker.NodeRow) bool { return row.Type == lease.NodeActual }
	if slices.ContainsFunc(l.Workers, actual) || slices.ContainsFunc(l.Leases, func(row lease.Info) bool { return row.Type == lease.NodeActual }) {
		fmt.Fprintln(table, "\n* not a port: the start in milliseconds, less a random part, as uid-generator has it")
	}
	return table.Flush()
}

// port marks what is no port. A process outside a container writes there what tells
// the starts on one host apart.
func port(text string, of lease.NodeType) string {
	if of == lease.NodeActual && text != worker.DefaultLeaseTable { // whose holder is listed below
		return cli.Printable(text) + "*"
	}
	return cli.Printable(text)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}
