//go:build linux

package torture

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/servertest"
)

// style is what the runs on every backend leave out. It has a run on each of its backends,
// and one with the plan's fault, in which the judge has to find ids that repeat.
type style struct {
	name   string
	open   []opener // of each a run without the fault
	wants  []string // lines of its report that must count something
	broken opener   // of the run with the fault; nil is the first of open
	shows  []string // as wants, of the run with the fault
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
		name: "narrow column", open: []opener{startMariaDB, startPostgres},
		wants: []string{"ids", "refusals: column full"},
		plan: plan{
			only: kindCounter, fault: faultClamp,
			before: func(ctx context.Context, a *access) error { return a.exec(ctx, narrow[a.sql.Name()]...) },
			deck:   []card{idle, idle},
		},
	},
	{
		// The runs on every backend kill servers that flush. The counter's row outlives the crash.
		name: "crashed server", broken: startUnflushed,
		shows: []string{"server outages", "warnings of a server that does not flush"},
		plan: plan{
			only: kindCounter, fault: faultFlush,
			before: func(ctx context.Context, a *access) error {
				// A commit that flushes takes the log before it along.
				return a.exec(ctx, "SET GLOBAL innodb_flush_log_at_trx_commit = 1", "CREATE TABLE flushed (a INT)",
					"INSERT INTO flushed VALUES (1)", "DROP TABLE flushed", "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
			},
			deck: []card{outage, kill, idle, idle, kill, kill, kill, kill, quiet},
		},
	},
	{
		name: "partition", open: []opener{startPartition},
		wants: []string{"partitions", "takeovers", "losses noticed"},
		plan:  plan{only: kindCached, fault: faultWindow, deck: []card{partition, partition, quiet}},
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

// narrow makes the counter's column narrower than its ids will be. MariaDB writes the
// greatest value instead of a greater one, and PostgreSQL fails.
var narrow = map[string][]string{
	"mysql": {
		"SET GLOBAL sql_mode = ''", "ALTER TABLE leaf_alloc MODIFY max_id INT NOT NULL",
		"UPDATE leaf_alloc SET max_id = 2147483647 - 50000",
	},
	"postgres": {"ALTER TABLE leaf_alloc ALTER max_id TYPE INT", "UPDATE leaf_alloc SET max_id = 2147483647 - 50000"},
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
		good, broken := s.plan, s.broken
		good.fault = ""
		for _, open := range s.open {
			t.Run(s.name, func(t *testing.T) {
				if v := run(t, open, good, s.wants); v.count() > 0 {
					t.Error("the judge has found faults")
				}
			})
		}
		if broken == nil {
			broken = s.open[0]
		}
		t.Run(s.name+", "+s.fault, func(t *testing.T) {
			if v := run(t, broken, s.plan, s.shows); v.repeats == 0 {
				t.Errorf("no repeats, %d faults: the run has not found what is broken", v.count())
			}
		})
	}
}

// startUnflushed starts a MariaDB that confirms commits up to a second before it writes
// them to a file.
var startUnflushed = startSQL("mariadb", func(t *testing.T, dir string) servertest.Database {
	d := servertest.MariaDB(t, dir)
	flushed := d.Command
	d.Command = func(port string) *exec.Cmd {
		cmd := flushed(port)
		cmd.Args = append(cmd.Args, "--innodb-flush-log-at-trx-commit=0")
		return cmd
	}
	return d
})

// startPartition starts a Redis. The first seat is in a namespace of its own.
func startPartition(ctx context.Context, t *testing.T, dir string) *backend {
	s := newNamespace(t)
	b := startRedis(ctx, t, dir)
	b.counters, b.namespaces = false, map[int]*namespace{0: s}
	b.proxies[0] = []*proxy{newProxy(t, s.address, b.servers[0].address)}
	return b
}
