package workers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/fatih/color"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Listing is what workers prints. In JSON, a missing table looks like an empty one: both
// have no rows.
type Listing struct {
	Layout     string           `json:"layout"`
	Last       int64            `json:"last"` // greatest number that was drawn or that an earlier layout had; 0 for none
	Max        int64            `json:"max"`  // number that ids of the layout may have
	Left       int64            `json:"left"` // numbers above Last
	Workers    []worker.NodeRow `json:"workers"`
	LeasesLeft int64            `json:"leases_left"` // numbers that can be leased now
	Earlier    int64            `json:"earlier"`     // held numbers of an earlier layout, whose holders have to restart
	Leases     []lease.Info     `json:"leases"`
	Change     string           `json:"change,omitempty"` // that makes the layout the store's, or why there is none

	registry, leases bool  // the table is there
	first            int64 // number that ids of the layout may have
}

// newListing reads both tables of an SQL database, or the leases of another store. Ids of the layout have numbers.
// The error matches worker.ErrNoTable if neither table is there.
func newListing(ctx context.Context, open *database.Leases, a *bits.Allocator, numbers lease.Range, limit int) (*Listing, error) {
	l := &Listing{Layout: a.Layout().String(), Max: a.MaxWorker(), Workers: []worker.NodeRow{}, Leases: []lease.Info{}}
	if open.DB != nil {
		rows, err := worker.NewRegistry(open.DB, worker.RegistryConfig{}).Nodes(ctx, limit)
		if l.registry = err == nil; !l.registry && !errors.Is(err, worker.ErrNoTable) {
			return nil, err
		}
		l.Workers = append(l.Workers, rows...)
	}
	leases, err := open.Leases(ctx, 0) // all, since the held ones are counted
	if l.leases = err == nil; !l.leases && !(l.registry && errors.Is(err, worker.ErrNoTable)) {
		return nil, err
	}
	l.Leases = append(l.Leases, leases...)

	l.first, l.Max = numbers.From, min(l.Max, numbers.To)
	drawn := len(l.Workers) > 0
	if drawn {
		l.Last = l.Workers[0].ID
		l.Workers = slices.DeleteFunc(l.Workers, func(row worker.NodeRow) bool { return row.Port == "WORKER_LEASE" || row.Type == 0 }) // 0: the counter was raised
	}
	l.Last = max(l.Last, numbers.From-1)
	l.Left = max(0, l.Max-l.Last)
	l.LeasesLeft = l.Max + 1 - numbers.From
	if open.DB != nil && len(leases) == 0 && numbers.From == 0 {
		l.LeasesLeft-- // a database draws no number 0
	}
	if drawn {
		l.LeasesLeft = l.Left
	}
	for _, row := range l.Leases {
		held := row.State == lease.StateHeld
		switch {
		case row.Number < numbers.From && held:
			l.Earlier++
		case row.Number < numbers.From || row.Number > l.Max:
		case drawn && !held:
			l.LeasesLeft++
		case !drawn && held:
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
		fmt.Fprintln(table, "WORKER\tHOST\tPROCESS\tTYPE\tCREATED")
		for _, row := range l.Workers {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", row.ID, cli.Printable(row.HostName), process(row.PID, row.Port, row.Type), row.Type, instant(row.Created))
		}
		left := "no number is left"
		if l.Left > 0 {
			left = fmt.Sprintf("%d of the numbers %d to %d are left", l.Left, max(1, l.first), l.Max)
		}
		fmt.Fprintf(table, "\n%s under %s\n", left, l.Layout)
	}
	if l.registry && l.leases {
		fmt.Fprintln(table)
	}
	if l.leases {
		fmt.Fprintf(table, "LEASE\t%s\tHOST\tPROCESS\tTYPE\tRENEWED\tRESERVED UNTIL\n", plain.Sprint("STATE"))
		for _, row := range l.Leases {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Number, colors[row.State].Sprint(row.State),
				cli.Printable(row.Host), process(row.PID, row.Port, row.Type), row.Type, instant(row.HeartbeatAt), instant(row.ReservedUntil))
		}
		fmt.Fprintf(table, "\n%d numbers can be leased under %s\n", l.LeasesLeft, l.Layout)
		if l.Earlier > 0 {
			fmt.Fprintf(table, "%d of the numbers below %d are held by generators of an earlier layout, until they restart\n", l.Earlier, l.first)
		}
	}
	if l.Change != "" {
		fmt.Fprintf(table, "%s\n", l.Change)
	}
	return table.Flush()
}

// Every cell of a column has a color, or the terminal's own, since a tabwriter counts the codes.
var (
	plain  = color.New(39)
	colors = map[lease.State]*color.Color{lease.StateHeld: color.New(color.FgGreen), lease.StateFree: plain, lease.StateExpired: color.New(color.FgRed)}
)

// process returns what tells the processes of one host apart: the process id, or the port of a
// row that has none. A process that is not in a container, and is uid-generator's, has the time
// of its start there, less up to 100 seconds.
func process(pid int, port string, of lease.NodeType) string {
	millis, err := strconv.ParseInt(port, 10, 64)
	switch {
	case pid > 0:
		return fmt.Sprintf("pid %d", pid)
	case of == lease.NodeActual && millis > 1e12:
		return "started about " + instant(time.UnixMilli(millis).UTC())
	case err == nil:
		return "port " + port
	}
	return cli.Printable(port)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}
