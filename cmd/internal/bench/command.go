package bench

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
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
	goroutines       []int // how many share a subject
}

// New returns the subcommand bench.
func New() *cobra.Command {
	o := &options{count: 6, goroutines: goroutineSteps(runtime.GOMAXPROCS(0))}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the generators on this machine, compared with an atomic add",
		Long: `bench measures what an id costs with Cached's Next and NextN(256), and with Default's
Next. It compares these costs with a baseline, an atomic add to a shared word. It runs
each measurement with 1, 2, 4, ... goroutines, up to the number of cores. bench needs
no database.

Each round runs every measurement as a Go benchmark. Standard output has one line per
benchmark, in benchstat's format, and then a table of medians, in nanoseconds per id.
In the table, × is the ratio to the baseline's median with the same number of goroutines.

Here, Cached borrows time without limit, and Default has a layout of 2^31 ids a
second. In a service, both are limited in the long run to the layout's ids per tick.`,
		Example: `  uidring bench
  uidring bench --boost-power 1,3,6 --padding-factor 25,50,75
  uidring bench --count 10 > new.txt      and then: benchstat old.txt new.txt`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	set := cmd.Flags()
	cli.LayoutFlag(cmd, &o.layout, "layout of Cached's ids", "fleet")
	set.DurationVar(&o.duration, "duration", 200*time.Millisecond, "duration of each benchmark; 1ms or more")
	set.Var(cli.Number{Value: &o.count, Min: 1, Max: 1000}, "count", "number of rounds; benchstat needs 6 or more")
	set.IntSliceVar(&o.boosts, "boost-power", []int{uid.DefaultBoostPower}, "BoostPower of Cached; several values are compared")
	set.IntSliceVar(&o.paddings, "padding-factor", []int{uid.DefaultPaddingFactor}, "PaddingFactor of Cached; several values are compared")
	return cmd
}

// goroutineSteps are the powers of two below cores, and cores.
func goroutineSteps(cores int) (steps []int) {
	for n := 1; n < cores; n *= 2 {
		steps = append(steps, n)
	}
	return append(steps, cores)
}

// row is a benchmark, and its samples in ns an id, by the place of the number of goroutines.
type row struct {
	name    string // as Go's benchmarks have it, without Benchmark
	ids     int    // ids of an operation
	run     func(b *testing.B) error
	samples [][]float64
}

func (r *row) median(at int) float64 {
	sorted := slices.Sorted(slices.Values(r.samples[at]))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// rows returns the floor, and then the generators.
func (o *options) rows() ([]*row, error) {
	rows := []*row{{name: "NextParallel/impl=add", ids: 1, run: func(b *testing.B) error { AddParallel(b); return nil }}}
	for _, boost := range o.boosts {
		for _, padding := range o.paddings {
			if boost == 0 || padding == 0 { // which a config takes for the default
				return nil, cli.Usagef("--boost-power is %d and --padding-factor is %d, want 1 or more", boost, padding)
			}
			name := fmt.Sprintf("impl=Cached/boost=%d/padding=%d", boost, padding)
			open := func() (*uid.Cached, error) {
				return NewCached(uid.CachedConfig{Layout: o.layout, BoostPower: boost, PaddingFactor: padding})
			}
			gen, err := open() // a config that is refused is refused before the first sample
			if err == nil {
				err = gen.Close()
			}
			if err != nil {
				return nil, cli.AtStart(err)
			}
			rows = append(rows,
				&row{name: "NextParallel/" + name, ids: 1, run: with(open, CachedParallel)},
				&row{name: fmt.Sprintf("NextNParallel/n=%d/%s", Batch, name), ids: Batch,
					run: with(open, func(b *testing.B, gen *uid.Cached) { CachedNextNParallel(b, gen, Batch) })})
		}
	}
	rows = append(rows, &row{name: "NextParallel/impl=Default", ids: 1, run: with(NewDefault, DefaultParallel)})
	for _, r := range rows {
		r.samples = make([][]float64, len(o.goroutines))
	}
	return rows, nil
}

// with returns a benchmark that starts a generator, runs a loop with it, and closes it. The
// error is the generator's.
func with[G interface {
	Next() (uid.ID, error)
	Close() error
}](open func() (G, error), loop func(b *testing.B, gen G)) func(b *testing.B) error {
	return func(b *testing.B) error {
		gen, err := open()
		if err != nil {
			return err
		}
		b.ResetTimer()
		loop(b, gen)
		b.StopTimer()
		if b.Failed() { // the error of the loop lasts
			_, err = gen.Next()
		}
		return errors.Join(err, gen.Close())
	}
}

func (o *options) run(cmd *cobra.Command) error {
	if o.duration < time.Millisecond {
		return cli.Usagef("--duration is %v, want 1ms or more, such as 500ms", o.duration)
	}
	rows, err := o.rows()
	if err != nil {
		return err
	}
	testing.Init()
	if err := flag.Set("test.benchtime", o.duration.String()); err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	out := bufio.NewWriter(cmd.OutOrStdout())
	var lines io.Writer = out
	if cli.Terminal(cmd.OutOrStdout()) { // where nobody compares them by benchstat
		lines = io.Discard
	}
	fmt.Fprintf(lines, "goos: %s\ngoarch: %s\npkg: github.com/uidring/uidring/uid\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, cpuid.CPU.BrandName)
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
	return out.Flush()
}

// sample takes a sample of a row, and writes its line.
func (o *options) sample(ctx context.Context, out io.Writer, r *row, at int) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.goroutines[at]))
	result := testing.Benchmark(func(b *testing.B) {
		if err == nil {
			err = r.run(b)
		}
	})
	if err == nil {
		fmt.Fprintf(out, "Benchmark%s-%d\t%s\n", r.name, o.goroutines[at], result)
		r.samples[at] = append(r.samples[at], float64(result.T.Nanoseconds())/float64(result.N)/float64(r.ids))
	}
	return err
}

func (o *options) table(out io.Writer, rows []*row) {
	fmt.Fprintf(out, "\nNanoseconds per id: the median of %d samples, and × that of the atomic add.\n\n", o.count)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "goroutines")
	for _, n := range o.goroutines {
		fmt.Fprintf(w, "\t%d\t", n)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n%s", r.name)
		for at := range o.goroutines {
			fmt.Fprintf(w, "\t%.3g\t× %.3g", r.median(at), r.median(at)/rows[0].median(at))
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}
