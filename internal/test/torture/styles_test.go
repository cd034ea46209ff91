//go:build linux

package torture

import (
	"context"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/servertest"
)

// style is what the runs on every backend leave out. It has a run on each of its backends,
// and one with a fault, in which the judge has to find ids that repeat.
type style struct {
	name   string
	open   []opener // of each a run without a fault
	only   kind
	layout bits.Layout // zero is the first of layouts
	deck   []card      // dealt once, in order
	before func(ctx context.Context, a *access) error
	order  func(o *order, seat int)
	wants  []string // lines of the report that must count something
	fault  string
	broken opener   // of the run with the fault; nil is the first of open
	shows  []string // as wants, of the run with the fault
}

var styles = []style{
	{
		name: "returns late", open: []opener{openSQLite, startRedis}, only: kindCounter,
		deck:  []card{cardClose, cardClose, cardClose, cardKill, cardClose, cardClose, cardClose, cardClose},
		order: func(o *order, _ int) { o.Late = true },
		wants: []string{"kills (-9)", "clean restarts", "returns of ranges"},
		fault: faultReturn,
	},
	{
		name: "kinds of numbers", open: []opener{openSQLite, openMariaDB, openPostgres}, only: kindCached,
		layout: bits.Layout{TimeBits: 34, WorkerBits: 10, SequenceBits: 10, Epoch: epoch, Unit: layouts[0].Unit},
		deck:   []card{cardKill, cardPause, cardClose, cardKill, cardKill, cardClose, cardKill, cardQuiet},
		order: func(o *order, seat int) {
			o.Exact, o.Leaser = -1, []leaser{leaserBeside, leaserRegistry}[seat%2]
		},
		wants: []string{"kills (-9)", "clean restarts", "numbers given back"},
		fault: faultBeside,
	},
	{
		name: "narrow column", open: []opener{openMariaDB, openPostgres}, only: kindCounter,
		deck: []card{cardRest, cardRest},
		before: func(ctx context.Context, a *access) error {
			return a.sql.exec(ctx, narrow[a.sql.db.Name()]...)
		},
		wants: []string{"ids", "refusals: column full"},
		fault: faultClamp,
	},
	{
		// The runs on every backend kill servers that flush. The counter's row outlives the crash.
		name: "crashed server", broken: openUnflushed, only: kindCounter,
		before: func(ctx context.Context, a *access) error {
			// A commit that flushes takes the log before it along.
			for _, statement := range []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 1", "CREATE TABLE flushed (a INT)", "INSERT INTO flushed VALUES (1)",
				"DROP TABLE flushed", "SET GLOBAL innodb_flush_log_at_trx_commit = 0"} {
				if err := a.sql.exec(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		},
		deck:  []card{cardOutage, cardKill, cardRest, cardRest, cardKill, cardKill, cardKill, cardKill, cardQuiet},
		fault: faultFlush,
		shows: []string{"server outages", "warnings of a server that does not flush"},
	},
	{
		name: "partition", open: []opener{openPartition}, only: kindCached,
		deck:  []card{cardPartition, cardPartition, cardQuiet},
		wants: []string{"partitions", "takeovers", "losses noticed"},
		fault: faultWindow,
	},
	{
		name: "leaf", open: []opener{startZooKeeper}, only: kindDefault, layout: bits.Snowflake(),
		deck: []card{cardKill, cardPause, cardPause, cardPause, cardPause, cardPause, cardPause, cardClose, cardOutage, cardQuiet, cardRest},
		order: func(o *order, seat int) {
			o.Exact, o.Leaser, o.Port = -1, leaserLeaf, 1+seat%(stamps/2)
		},
		wants: []string{"kills (-9)", "clean restarts", "server outages", "starts refused", "losses noticed"},
		fault: faultAddress,
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
	run := func(t *testing.T, open opener, s style, fault string, wants []string) (v verdict) {
		t.Parallel()
		var missing []string
		for attempt := range uint64(3) {
			p := plan{seed: seed + attempt, rate: 20_000, layout: s.layout, deck: slices.Clone(s.deck), fault: fault, only: s.only, style: s}
			if p.layout == (bits.Layout{}) {
				p.layout = layouts[0]
			}
			var r *report
			v, r = on(ctx, t, open, p)
			t.Logf("\n%s%s", table([]*report{r}), v.String())
			missing = slices.DeleteFunc(slices.Clone(wants), func(name string) bool {
				return slices.ContainsFunc(r.lines, func(l [2]string) bool { return l[0] == name && l[1] != "0" && l[1] != "-" })
			})
			if fault == "" && v.count() > 0 || len(missing) == 0 && (fault == "" || v.repeats > 0) {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("this did not happen: %q", missing)
		}
		return v
	}
	for _, s := range styles {
		for _, open := range s.open {
			t.Run(s.name, func(t *testing.T) {
				if v := run(t, open, s, "", s.wants); v.count() > 0 {
					t.Error(v.String())
				}
			})
		}
		t.Run(s.name+", "+s.fault, func(t *testing.T) {
			open := s.broken
			if open == nil {
				open = s.open[0]
			}
			if v := run(t, open, s, s.fault, s.shows); v.repeats == 0 {
				t.Errorf("no repeats, %d faults: the run has not found what is broken", v.count())
			}
		})
	}
}

// openUnflushed starts a MariaDB that confirms commits up to a second before it writes
// them to a file.
func openUnflushed(ctx context.Context, t *testing.T, dir string) *backend {
	d := servertest.MariaDB(t, dir)
	flushed := d.Command
	d.Command = func(port string) *exec.Cmd {
		cmd := flushed(port)
		cmd.Args = append(cmd.Args, "--innodb-flush-log-at-trx-commit=0")
		return cmd
	}
	d.End = syscall.SIGKILL
	return startSQL(ctx, t, "mariadb", d)
}

// openPartition starts a Redis. The first seat is in a namespace of its own.
func openPartition(ctx context.Context, t *testing.T, dir string) *backend {
	s := newNamespace(t)
	b := startRedis(ctx, t, dir)
	b.counters, b.namespaces = false, map[int]*namespace{0: s}
	p, err := newProxy(s.address, b.servers[0].address)
	must(t, err)
	t.Cleanup(p.close)
	b.proxies[0] = []*proxy{p}
	return b
}
