package layout

import (
	"fmt"
	"io"
	"math"
	mathbits "math/bits"
	"sort"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/format"
)

// wishes are what a layout has to hold.
type wishes struct {
	workers, years, rate int64
	js, registry         bool
	starts               int64 // a day, of a registry
}

// named are the presets for new ids, in the order of preference.
var named = []struct{ name, code string }{
	{"fleet", "bits.Fleet()"}, {"registry", "bits.Registry()"}, {"long-lived", "bits.LongLived()"}, {"js-safe", "bits.JSSafe()"},
}

func (w *wishes) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(cli.Number{Value: &w.workers, Min: 1, Max: math.MaxInt32}, "workers", "how many workers run at once, including those of a rolling update")
	flags.Var(cli.Number{Value: &w.years, Min: 1, Max: 1000}, "years", "years the layout must last")
	flags.Var(cli.Number{Value: &w.rate, Min: 1, Max: math.MaxInt32}, "rate", "average number of ids per second that one worker generates")
	flags.BoolVar(&w.js, "js", false, "ids have 53 bits, which JavaScript numbers hold exactly")
	flags.BoolVar(&w.registry, "registry", false, "each start consumes a number (worker.Registry), instead of leasing one")
	flags.Var(cli.Number{Value: &w.starts, Min: 1, Max: math.MaxInt32}, "starts-a-day", "starts per day by all workers, for --registry")
	cmd.MarkFlagsRequiredTogether("workers", "years", "rate")
	cmd.MarkFlagsRequiredTogether("registry", "starts-a-day")
}

func (w wishes) until(now time.Time) time.Time { return now.AddDate(int(w.years), 0, 0) }

// numbers returns how many worker numbers are needed. Number 0 is one of them, which no database gives.
func (w wishes) numbers(now time.Time) int64 {
	if !w.registry {
		return 1 + w.workers
	}
	days := int64(math.Ceil(w.until(now).Sub(now).Hours() / 24))
	return 1 + max(w.workers, days*w.starts)
}

func (w wishes) bits() int {
	if w.js {
		return exactBits
	}
	return bits.TotalBits
}

// widths returns the least widths that hold the wishes, in ticks of a second since the epoch.
func (w wishes) widths(now time.Time) (epoch time.Time, ticks, worker, sequence int) {
	epoch = time.Date(now.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	width := func(n int64) int { return mathbits.Len64(uint64(n - 1)) }
	return epoch, width(w.until(now).Unix() - epoch.Unix() + 1), width(w.numbers(now)), width(w.rate)
}

// propose returns a layout that holds the wishes, with its name, if it has one, and its Go.
func (w wishes) propose(now time.Time) (layout bits.Layout, name, code string, ok bool) {
	for _, p := range named {
		layout, err := bits.ParseLayout(p.name)
		if err == nil && layout.Bits() <= w.bits() && layout.End().After(w.until(now)) &&
			w.numbers(now) <= 1<<layout.WorkerBits && w.rate <= 1<<layout.SequenceBits {
			return layout, p.name, p.code, true
		}
	}
	epoch, ticks, worker, sequence := w.widths(now)
	spare := w.bits() - ticks - worker - sequence
	if spare < 0 {
		return layout, "", "", false
	}
	// Each field gets its share of what is left, up to five centuries.
	more := min((spare+2)/3, max(0, 34-ticks))
	ticks, spare = ticks+more, spare-more
	worker, sequence = worker+(spare+1)/2, sequence+spare/2
	layout = bits.Layout{TimeBits: uint8(ticks), WorkerBits: uint8(worker), SequenceBits: uint8(sequence), Epoch: epoch, Unit: time.Second}
	code = fmt.Sprintf("bits.Layout{TimeBits: %d, WorkerBits: %d, SequenceBits: %d, Epoch: time.Date(%d, 1, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second}",
		ticks, worker, sequence, epoch.Year())
	return layout, "", code, true
}

// answer describes the proposed layout. If none fits, it writes what can be given up, and fails.
func (w wishes) answer(out io.Writer, now time.Time) (*answer, error) {
	layout, name, code, ok := w.propose(now)
	if !ok {
		return nil, w.refuse(out, now)
	}
	a, err := newAnswer(format.LayoutAlone(layout))
	if err != nil {
		return nil, err
	}
	a.Name, a.Go, a.YAML = name, "Layout: "+code+",", "layout: "+a.Layout
	if name != "" {
		a.YAML = "layout: " + name
	}
	a.Reserve = new(a.GreatestWorker + 1 - w.numbers(now))
	return a, nil
}

// refuse writes each wish that makes room if it alone is given up.
func (w wishes) refuse(out io.Writer, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	offered := false
	offer := func(less wishes, flag, cost string) {
		if _, _, _, ok := less.propose(now); ok {
			offered = true
			fmt.Fprintf(table, "%s\t%s\n", flag, cost)
		}
	}
	most := func(flag string, of func(*wishes) *int64, cost string) {
		less := w
		value := of(&less)
		wished := *value
		*value = int64(sort.Search(int(wished), func(n int) bool {
			*value = int64(n) + 1
			_, _, _, ok := less.propose(now)
			return !ok
		}))
		if *value > 0 {
			offer(less, fmt.Sprintf("--%s %d", flag, *value), fmt.Sprintf("instead of %d: %s", wished, cost))
		}
	}
	most("rate", func(w *wishes) *int64 { return &w.rate }, "a worker that needs more waits for the clock")
	most("years", func(w *wishes) *int64 { return &w.years }, "afterwards another layout follows, see --next")
	if w.registry {
		most("starts-a-day", func(w *wishes) *int64 { return &w.starts }, "later starts fail once the numbers are used up")
		leased := w
		leased.registry = false
		offer(leased, "without --registry", "workers lease numbers, and renew them while they run")
	} else {
		most("workers", func(w *wishes) *int64 { return &w.workers }, "further workers do not start")
	}
	if w.js {
		long := w
		long.js = false
		offer(long, "without --js", "ids are strings in JavaScript and JSON, as uid.ID is")
	}
	_, ticks, worker, sequence := w.widths(now)
	advice := "each line relaxes one requirement"
	if !offered {
		advice = "relaxing one requirement is not enough, relax several"
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return fmt.Errorf("no layout fits into %d bits: %d years need %d, %d worker numbers %d, %d ids a second %d; %s",
		w.bits(), w.years, ticks, w.numbers(now), worker, w.rate, sequence, advice)
}
