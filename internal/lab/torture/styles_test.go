//go:build linux

package torture

import (
	"testing"

	"github.com/uidring/uidring/bits"
)

// styles are runs of what the runs on every backend leave out. Each plan has the fault for
// a second run, in which the judge has to find ids that repeat.
var styles = []struct {
	name        string
	open, fault opener // the backends of the run without the fault, and of the one with it
	plan
}{
	{
		name: "returns late", open: startRedis, fault: openSQLite,
		plan: plan{
			only: kindCounter, seeded: faultReturn,
			wants: []string{"kills (-9)", "clean restarts", "returns of ranges"},
			deck:  []card{restart, restart, restart, kill, restart, restart, restart, restart},
			order: func(o *order, _ int) { o.Late = true },
		},
	},
	{
		name: "kinds of numbers", open: startMariaDB, fault: openSQLite,
		plan: plan{
			only: kindCached, seeded: faultBeside,
			wants:  []string{"kills (-9)", "clean restarts", "numbers given back"},
			layout: bits.Layout{TimeBits: 34, WorkerBits: 10, SequenceBits: 10, Epoch: epoch, Unit: short.Unit},
			deck:   []card{kill, pause, restart, kill, kill, restart, kill, quiet},
			order: func(o *order, seat int) {
				o.Leaser = []leaser{leaserWide, leaserRegistry, leaserWide, leaserRegistry, leaserWide, leaserForeign}[seat%6]
			},
		},
	},
	{name: "first Registries of MariaDB", open: startMariaDB, fault: startMariaDB, plan: firstRegistries},
	{name: "first Registries of PostgreSQL", open: startPostgres, fault: startPostgres, plan: firstRegistries},
	{name: "first Registries of SQLite", open: openSQLite, fault: openSQLite, plan: firstRegistries},
}

// firstRegistries is a herd of Leasers on an empty database, into which its first Registries start, and one in another
// language.
var firstRegistries = plan{
	empty: true, only: kindCached, seeded: faultBeside, rate: 1000, layout: bits.Registry(),
	wants: []string{"starts in a herd that had a number", "starts into a herd that had a number"},
	deck:  []card{joined},
	order: func(o *order, seat int) {
		switch {
		case seat == seats-1: // the other two have three Registries
			o.Leaser = leaserForeign
		case seat >= stamps:
			o.Leaser = leaserRegistry
		default:
			o.Leaser = leaserWide
		}
	},
}

func TestStyles(t *testing.T) {
	t.Parallel()
	ctx := begin(t)
	for _, s := range styles {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			good := s.plan
			good.seeded = ""
			complete(ctx, t, s.open, good)
		})
		t.Run(s.name+", "+s.seeded, func(t *testing.T) {
			t.Parallel()
			found(ctx, t, s.fault, s.plan, 1)
		})
	}
}

// TestHerds: many processes start at the same time on every backend, and are killed at random.
func TestHerds(t *testing.T) {
	ctx := begin(t)
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) { // one after the other: each has sixty processes
			complete(ctx, t, b.open, plan{
				ids: 10_000, rate: 500, only: kindCached, deck: []card{herd, kill, herd, restart},
				layout: bits.Layout{TimeBits: 34, WorkerBits: 10, SequenceBits: 10, Epoch: epoch, Unit: short.Unit},
				wants:  []string{"starts in a herd", "starts in a herd that had a number", "clean restarts"},
				order:  func(o *order, _ int) { o.Leaser = leaserWide },
			})
		})
	}
}
