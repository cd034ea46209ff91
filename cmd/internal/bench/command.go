package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid"
)

type options struct {
	layout           bits.Layout
	duration         time.Duration
	count            int64 // of samples
	boosts, paddings []int
	plot             string
	goroutines       []int // how many share a subject
}

// New returns the subcommand bench.
func New() *cobra.Command {
	o := &options{layout: bits.Default(), count: 6, goroutines: goroutineSteps(runtime.GOMAXPROCS(0))}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the generators on this machine, beside an atomic add",
		Long: `bench measures what an id costs: of Cached, with Next and with NextN of 256 ids, of
Default, and of the floor, an atomic add to a number that all goroutines share. 1, 2,
4, ... goroutines draw ids, up to the number of cores. It needs no database.

Each round takes a sample of each. Standard output has a table of medians and, unless it
is a terminal, before that a line for each sample in the format of Go's benchmarks, so
that benchstat compares two runs. In the table, × is a ratio of medians: of the row, to the floor's with as many
goroutines.

Cached borrows time without bound here, and Default has a layout of 2^31 ids a second.
In the long run, both are limited to the ids that the layout has in a tick.`,
		Example: `  uidring bench
  uidring bench --boost-power 1,3,6 --padding-factor 25,50,75
  uidring bench --count 10 > new.txt      and then: benchstat old.txt new.txt
  uidring bench --plot bench.svg`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	set := cmd.Flags()
	cli.LayoutFlag(cmd, &o.layout, "layout of Cached's ids")
	set.DurationVar(&o.duration, "duration", 200*time.Millisecond, "how long a sample lasts; 1ms or more")
	set.Var(cli.Number{Value: &o.count, Min: 1, Max: 1000}, "count", "how many rounds; benchstat wants 6 or more")
	set.IntSliceVar(&o.boosts, "boost-power", []int{uid.DefaultBoostPower}, "BoostPower of Cached; several are measured one beside the other")
	set.IntSliceVar(&o.paddings, "padding-factor", []int{uid.DefaultPaddingFactor}, "PaddingFactor of Cached; several are measured one beside the other")
	set.StringVar(&o.plot, "plot", "", "draw the table into this `file`, an SVG, which is replaced if it exists")
	cli.CompleteFiles(cmd, "plot")
	return cmd
}

// goroutineSteps are the powers of two below cores, and cores.
func goroutineSteps(cores int) (steps []int) {
	for n := 1; n < cores; n *= 2 {
		steps = append(steps, n)
	}
	return append(steps, cores)
}

// row is a subject, and its samples in ns an id, by the place of the number of goroutines.
type row struct {
	Subject
	samples [][]float64
}

func (r *row) median(at int) float64 {
	sorted := slices.Sorted(slices.Values(r.samples[at]))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// rows returns the floor, and then the generators. It starts each generator once, so that
// a config that a constructor refuses is refused before the first sample.
func (o *options) rows() (rows []*row, err error) {
	subjects := []Subject{Add()}
	for _, boost := range o.boosts {
		for _, padding := range o.paddings {
			if boost == 0 || padding == 0 { // which a config takes for the default
				return nil, cli.Usagef("--boost-power and --padding-factor are 1 or more")
			}
			name := fmt.Sprintf("/boost=%d/padding=%d", boost, padding)
			open := Cached(uid.CachedConfig{Layout: o.layout, BoostPower: boost, PaddingFactor: padding})
			subjects = append(subjects, Method("Cached.Next"+name, 1, open, CachedNext), Method("Cached.NextN"+name, Batch, open, CachedNextN))
		}
	}
	for _, s := range append(subjects, Method("Default.Next", 1, Default, DefaultNext)) {
		_, end, err := s.Open()
		if err == nil && end != nil {
			err = end()
		}
		if err != nil {
			return nil, cli.AtStart(err)
		}
		rows = append(rows, &row{s, make([][]float64, len(o.goroutines))})
	}
	return rows, nil
}

func (o *options) run(cmd *cobra.Command) error {
	if o.duration < time.Millisecond {
		return cli.Usagef("--duration is %v, want 1ms or more, such as 500ms", o.duration)
	}
	rows, err := o.rows()
	if err != nil {
		return err
	}
	var picture *os.File
	if cmd.Flags().Changed("plot") {
		if picture, err = os.Create(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
		defer picture.Close()
	}
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	out := bufio.NewWriter(cmd.OutOrStdout())
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/uidring/uidring/uid\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName)
	var lines io.Writer = out
	if cli.Terminal(cmd.OutOrStdout()) { // where nobody compares them by benchstat
		lines = io.Discard
	}
	bar := cli.Progress(cmd.ErrOrStderr(), o.count*int64(len(rows)), "samples")
	for range o.count {
		for _, r := range rows {
			for at := range o.goroutines {
				if err := cli.Finish(out, o.sample(ctx, lines, r, at)); err != nil {
					return err
				}
			}
			_ = bar.Add(1)
		}
	}
	_ = bar.Finish()
	o.table(out, rows)
	if picture != nil {
		err = errors.Join(o.draw(picture, rows), picture.Close())
	}
	return cli.Finish(out, err)
}

// sample takes a sample of a row, and writes its line. A tenth of the time beforehand
// warms up.
func (o *options) sample(ctx context.Context, out io.Writer, r *row, at int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	loop, end, err := r.Open()
	if err != nil {
		return err
	}
	runtime.GC() // so that this sample does not collect the garbage of the one before
	n := o.goroutines[at]
	if _, _, err = Measure(loop, n, o.duration/10); err == nil {
		calls, ns, failed := Measure(loop, n, o.duration)
		ids := max(r.IDs, 1)
		r.samples[at] = append(r.samples[at], ns/float64(ids))
		fmt.Fprintf(out, "BenchmarkID/impl=%s/goroutines=%d-%d\t%d\t%.4g ns/op\n", r.Name, n, runtime.GOMAXPROCS(0), calls*int64(ids), ns/float64(ids))
		err = failed
	}
	if end != nil {
		err = errors.Join(err, end())
	}
	return err
}

func (o *options) table(out io.Writer, rows []*row) {
	fmt.Fprintf(out, "\nNanoseconds an id: the median of %d samples, and × that of the atomic add.\n\n", o.count)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "goroutines")
	for _, n := range o.goroutines {
		fmt.Fprintf(w, "\t%d\t", n)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n%s", r.Name)
		for at := range o.goroutines {
			fmt.Fprintf(w, "\t%.3g\t× %.3g", r.median(at), r.median(at)/rows[0].median(at))
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}
