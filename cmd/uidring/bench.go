package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
)

// benchFlags is what bench was told.
type benchFlags struct {
	layout   bits.Layout
	duration time.Duration
	rounds   int64
	json     bool
	report   string // path, or empty
	compare  string // path, or empty
}

func newBench() *cobra.Command {
	f := benchFlags{rounds: 3}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the generators on this machine, beside a bare atomic add",
		Long: `bench measures the cached and the default generator by Next and by NextN of 256
ids, with 1, 2, 4, ... goroutines up to the number of cores. Beside them, for
comparison, stands a bare atomic add to a number that as many goroutines share.

Each is measured in --count rounds, one after the other by turns, so that whatever
else the machine does meets them all. The round in the middle is shown, and how
far apart the slowest and the fastest are. At the end of a round, for a quarter of
its time, every call is timed by itself: that includes reading the clock, which is
most of what the atomic add shows there.

The cached generator may borrow without bound here, and how far it went is shown
beside its speed. The default generator waits whenever the ids of a tick are used
up, so its rate is that of its layout: it is measured over whole ticks, one at
least, and starts halfway through one whose ids are used up.

--report writes all of it as a page with charts: one file that needs nothing else.
--compare shows what has changed since an earlier bench --json. A change that the
rounds of either could have by chance is said to be within the spread.

It needs no database. Other programs at work distort what it finds, and so do
threads that the system leaves on one core: the figures of the README are from the
project's internal/bench, which places them and waits for a calm machine. An
interrupt ends it with the rows measured so far.`,
		Example: `  uidring bench
  uidring bench --duration 5s --layout snowflake
  uidring bench --report bench.html
  uidring bench --json > old.json
  uidring bench --count 5 --compare old.json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return bench(cmd, f) },
	}
	flags := cmd.Flags()
	layoutFlag(cmd, &f.layout, "layout of the ids")
	flags.DurationVar(&f.duration, "duration", time.Second, "how long a round is")
	flags.Var(number{&f.rounds, 1, 1000}, "count", "how many rounds for each row; of one, no spread is known")
	flags.BoolVar(&f.json, "json", false, "print one object: the machine and rows")
	flags.StringVar(&f.report, "report", "", "write a page with charts to this `file`, which is replaced if it is there")
	flags.StringVar(&f.compare, "compare", "", "show what has changed since this `file`, which bench --json has printed")
	complete(cmd, "duration")
	complete(cmd, "count")
	return cmd
}

func bench(cmd *cobra.Command, f benchFlags) error {
	if f.duration <= 0 {
		return usagef("--duration is %v, want more than 0", f.duration)
	}
	var old *result
	if cmd.Flags().Changed("compare") {
		var err error
		if old, err = readResult(f.compare); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	if cmd.Flags().Changed("report") {
		if f.report == "" {
			return usagef("--report is empty, want the name of a file")
		}
		if err := canReplace(f.report); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}

	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	result, err := measureAll(ctx, f, cmd.ErrOrStderr())
	if err != nil && ctx.Err() == nil {
		return err
	}
	if old != nil {
		result.Comparison = compareWith(old, result)
	}
	if f.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	} else {
		err = result.write(cmd.OutOrStdout())
	}
	if f.report != "" && len(result.Rows) > 0 {
		err = errors.Join(err, writeReport(f.report, result))
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

func writeReport(path string, r *result) error {
	page, err := r.page()
	if err == nil {
		err = replace(path, page)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// newProgress returns a bar that is seen on a terminal only, and gone in the end.
func newProgress(stderr io.Writer, rounds int) *progressbar.ProgressBar {
	file, ok := stderr.(*os.File)
	return progressbar.NewOptions(rounds,
		progressbar.OptionSetVisibility(ok && isatty.IsTerminal(file.Fd())),
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)
}
