package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid"
)

// Program is what a benchmark measures and what its page says.
type Program struct {
	Title    string        // of the page
	Duration time.Duration // of a sample, by default
	Rounds   int64         // by default

	// Tasks returns what a round visits. Run calls end after the last round.
	Tasks func(ctx context.Context, o Options) (tasks []Task, end func() error, err error)

	Bars func(r *Result) []Bar             // nil without promises
	Own  string                            // a template of sections in Markdown; empty for none
	Data func(r *Result, missed []Bar) any // what Own shows
}

// Options are flags that tasks depend on.
type Options struct {
	Layout   bits.Layout
	Duration time.Duration // of a sample
}

// flags are those of every benchmark.
type flags struct {
	Options
	rounds  int64
	json    bool
	check   bool
	report  string // path, or empty
	from    string // path, or empty
	compare string // path, or empty
}

// minDuration is the least time of a sample: a shorter one measures its own start.
const minDuration = time.Millisecond

// New returns the subcommand, which measures the generators on the user's machine.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the generators on this machine, beside a bare atomic add",
		Long: `bench measures the cost of an id from the generators Cached, Default and Slots, with
1, 2, 4, ... goroutines up to the number of cores. Beside them it measures the
floors: an atomic add to a number that all goroutines share, the same add behind a
call, and a reading of the clock. bench needs no database.

bench measures each of them in turn, in --count rounds, so that other work of the
machine disturbs all alike. It shows the median, the least and the greatest round. It
takes a disturbed sample again, as long as that does not double the whole time.
Threads start on cores of their own.

Cached borrows time without bound here; bench shows how much. Default and Slots have
a layout of 2^31 ids a second, so that they never wait for the next tick. bench
prints the rate that --layout allows in the long run, which limits all generators.

Latencies are of one goroutine that makes a million calls a second. A latency counts
from the intended start of the call.

--report writes a page with charts, in one file, or a page in Markdown if the file's
name ends in .md. --compare shows what has changed since an earlier bench --json, by a
Mann-Whitney U test. --from shows an earlier bench --json again. An interrupt ends
bench with the figures measured so far.`,
		Example: `  uidring bench
  uidring bench --duration 2s --layout snowflake
  uidring bench --report bench.html
  uidring bench --json > old.json
  uidring bench --count 10 --compare old.json`,
	}
	p := Program{Title: "uidring bench", Duration: 500 * time.Millisecond, Rounds: 6, Tasks: oursTasks}
	cli.LayoutFlag(cmd, &p.Command(cmd).Layout, "layout of Cached's ids")
	return cmd
}

// oursTasks measures the floors and the generators.
func oursTasks(_ context.Context, o Options) (tasks []Task, end func() error, err error) {
	gen, err := NewCached(o.Layout, uid.DefaultBoostPower)
	if err == nil {
		err = gen.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	for _, s := range append(Floors(), Ours(o.Layout, uid.DefaultBoostPower)...) {
		for _, n := range goroutineSteps(runtime.GOMAXPROCS(0)) {
			tasks = append(tasks, &Cell{Subject: s, Setting: Setting{Goroutines: n}, Time: o.Duration})
		}
		if !strings.HasSuffix(s.Name, ".All") { // a loop makes no single calls
			tasks = append(tasks, &Pace{Subject: s, Time: o.Duration / 2})
		}
	}
	return tasks, nil, nil
}

// goroutineSteps are the powers of two below cores, and cores.
func goroutineSteps(cores int) (steps []int) {
	for n := 1; n < cores; n *= 2 {
		steps = append(steps, n)
	}
	return append(steps, cores)
}

// Command makes cmd run the benchmark, and returns the options, for more flags.
func (p *Program) Command(cmd *cobra.Command) *Options {
	f := &flags{Options: Options{Layout: bits.Default()}, rounds: p.Rounds}
	cmd.Args, cmd.ValidArgsFunction = cli.NoArguments, cobra.NoFileCompletions
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return p.run(cmd, f) }
	set := cmd.Flags()
	set.DurationVar(&f.Duration, "duration", p.Duration, "how long a sample lasts, such as 2s; 1ms or more")
	set.Var(cli.Number{Value: &f.rounds, Min: 1, Max: 1000}, "count", "how many rounds; with fewer than 4, --compare finds no change")
	set.BoolVar(&f.json, "json", false, "print one object: the machine and all samples")
	set.StringVar(&f.report, "report", "", "write a page to this `file`, which is replaced if it exists: Markdown if it is a .md, else HTML with charts")
	set.StringVar(&f.compare, "compare", "", "show changes since the bench of this `file`, which bench --json has printed")
	set.StringVar(&f.from, "from", "", "measure nothing, and show the bench of this `file`, which bench --json has printed")
	if p.Bars != nil {
		set.BoolVar(&f.check, "check", false, "fail if a bar is missed")
	}
	cli.Complete(cmd, "duration")
	cli.Complete(cmd, "count")
	return &f.Options
}

func (p *Program) run(cmd *cobra.Command, f *flags) (err error) {
	if f.Duration < minDuration {
		return cli.Usagef("--duration is %v, want %v or more, such as 500ms", f.Duration, minDuration)
	}
	var old, r *Result
	if cmd.Flags().Changed("compare") {
		if old, err = read(f.compare); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	if cmd.Flags().Changed("from") {
		if r, err = read(f.from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	if cmd.Flags().Changed("report") {
		if f.report == "" {
			return cli.Usagef("--report is empty, want the name of a file, such as bench.html")
		}
		if err := writable(f.report); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}

	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	if r == nil {
		r, err = p.measure(ctx, f, commandLine(cmd), cmd.ErrOrStderr())
		switch {
		case err == nil, ctx.Err() != nil && r != nil:
		case errors.Is(err, uid.ErrTimeExhausted) && f.Layout.End().After(time.Now()):
			return err // borrowing ended it
		default:
			return cli.AtStart(err)
		}
	}
	if old != nil {
		r.compare(old)
	}
	d := p.newPage(r)
	if f.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	} else if text, failed := p.markdown(d); failed != nil {
		err = failed
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), plain(text))
	}
	if f.report != "" && len(r.Figures) > 0 {
		err = errors.Join(err, p.writeReport(f.report, d))
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	if missed := missed(d.Bars); err == nil && f.check && len(missed) > 0 {
		return fmt.Errorf("%d bars are missed, the first is %s: want %s, measured %s", len(missed), missed[0].What, missed[0].Want, missed[0].Measured)
	}
	return err
}

// commandLine returns the command with the flags that were given.
func commandLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) { line += " --" + f.Name + "=" + f.Value.String() })
	return line
}

// measure returns the figures that were measured, even with an error of a round.
func (p *Program) measure(ctx context.Context, f *flags, line string, stderr io.Writer) (r *Result, err error) {
	tasks, end, err := p.Tasks(ctx, f.Options)
	if end != nil {
		defer func() { err = errors.Join(err, end()) }()
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r = &Result{
		Machine: ThisMachine(),
		Version: cli.Release(),
		Command: line,
		Time:    began.UTC().Truncate(time.Second),
		Layout:  f.Layout.String(),
		Seconds: f.Duration.Seconds(),
		Rounds:  f.rounds,
		Limits:  fmt.Sprintf("%s ids in %v", humanize.Comma(1<<f.Layout.SequenceBits), f.Layout.Unit),
	}
	samples := len(tasks) * int(f.rounds)
	progress := newProgress(stderr, samples)
	err = r.rounds(ctx, tasks, &calm{patience: time.Duration(samples) * f.Duration}, func() { _ = progress.Add(1) })
	r.Interrupted, r.Took = err != nil, time.Since(began).Seconds()
	return r, errors.Join(err, progress.Clear())
}

// writable tells before the work whether the report can be written after it.
func writable(path string) error {
	_, missing := os.Stat(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if missing != nil {
		defer os.Remove(path)
	}
	return file.Close()
}

// newProgress returns a bar that is seen on a terminal only, and gone in the end.
func newProgress(stderr io.Writer, samples int) *progressbar.ProgressBar {
	file, ok := stderr.(*os.File)
	return progressbar.NewOptions(samples,
		progressbar.OptionSetVisibility(ok && isatty.IsTerminal(file.Fd())),
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("samples"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)
}
