//go:build linux

package torture

import (
	"slices"
	"testing"

	"github.com/uidring/uidring/bits"
)

// style is what the runs on every backend leave out. It has a run on each of its backends,
// and one with the plan's fault on the first, in which the judge has to find ids that repeat.
type style struct {
	name  string
	open  []opener // of each a run without the fault
	wants []string // lines of its report that must count something
	plan
}

var styles = []style{
	{
		name: "returns late", open: []opener{openSQLite, startRedis},
		wants: []string{"kills (-9)", "clean restarts", "returns of ranges"},
		plan: plan{
			only: kindCounter, fault: faultReturn,
			deck:  []card{restart, restart, restart, kill, restart, restart, restart, restart},
			order: func(o *order, _ int) { o.Late = true },
		},
	},
	{
		name: "kinds of numbers", open: []opener{openSQLite, startMariaDB, startPostgres},
		wants: []string{"kills (-9)", "clean restarts", "numbers given back"},
		plan: plan{
			only: kindCached, fault: faultBeside,
			layout: bits.Layout{TimeBits: 34, WorkerBits: 10, SequenceBits: 10, Epoch: epoch, Unit: layouts[0].Unit},
			deck:   []card{kill, pause, restart, kill, kill, restart, kill, quiet},
			order: func(o *order, seat int) {
				o.Exact, o.Leaser = -1, []leaser{leaserBeside, leaserRegistry}[seat%2]
			},
		},
	},
	{
		name: "leaf", open: []opener{startZooKeeper},
		wants: []string{"kills (-9)", "clean restarts", "server outages", "starts refused", "losses noticed"},
		plan: plan{
			only: kindDefault, fault: faultAddress, layout: bits.Snowflake(),
			deck: []card{kill, pause, pause, pause, pause, pause, pause, restart, outage, quiet, idle},
			order: func(o *order, seat int) {
				o.Exact, o.Leaser, o.Port = -1, leaserLeaf, 1+seat%(stamps/2)
			},
		},
	},
}

func TestStyles(t *testing.T) {
	t.Parallel()
	ctx := begin(t)
	seed := seeded(t)
	// run repeats a run in which not all happened that the test needs, which hangs on the
	// machine. A run that found something is enough for the judge.
	run := func(t *testing.T, open opener, p plan, wants []string) (v verdict) {
		t.Parallel()
		var missing []string
		for attempt := range uint64(3) {
			p.seed = seed + attempt
			var r *report
			v, r = on(ctx, t, open, p)
			missing = slices.DeleteFunc(slices.Clone(wants), func(name string) bool {
				return slices.ContainsFunc(r.lines, func(l [2]string) bool { return l[0] == name && l[1] != "0" && l[1] != "-" })
			})
			if p.fault == "" && v.count() > 0 || len(missing) == 0 && (p.fault == "" || v.repeats > 0) {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("this did not happen: %q", missing)
		}
		return v
	}
	for _, s := range styles {
		good := s.plan
		good.fault = ""
		for _, open := range s.open {
			t.Run(s.name, func(t *testing.T) {
				if v := run(t, open, good, s.wants); v.count() > 0 {
					t.Error("the judge has found faults")
				}
			})
		}
		t.Run(s.name+", "+s.fault, func(t *testing.T) {
			if v := run(t, s.open[0], s.plan, nil); v.repeats == 0 {
				t.Errorf("no repeats, %d faults: the run has not found what is broken", v.count())
			}
		})
	}
}
