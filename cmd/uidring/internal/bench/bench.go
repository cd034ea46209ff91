// Package bench is the subcommand bench: it measures the generators on the user's
// machine. Package measure does the measuring; this package chooses what, and shows
// the figures as a table, JSON or a page with charts.
package bench

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
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid"
)

// options are the command's flags.
type options struct {
	layout   bits.Layout
	duration time.Duration
	rounds   int64
	json     bool
	report   string // path, or empty
	compare  string // path, or empty
}

// minDuration is the least time of a sample: a shorter one measures its own start.
const minDuration = time.Millisecond

// New returns the subcommand.
func New() *cobra.Command {
	o := options{rounds: 6}
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

--report writes a page with charts, in one file. --compare shows what has changed
since an earlier bench --json, by a Mann-Whitney U test. An interrupt ends bench with
the figures measured so far.`,
		Example: `  uidring bench
  uidring bench --duration 2s --layout snowflake
  uidring bench --report bench.html
  uidring bench --json > old.json
  uidring bench --count 10 --compare old.json`,
		Args:              cli.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return run(cmd, o) },
	}
	flags := cmd.Flags()
	cli.LayoutFlag(cmd, &o.layout, "layout of Cached's ids")
	flags.DurationVar(&o.duration, "duration", 500*time.Millisecond, "how long a sample lasts, such as 2s; 1ms or more")
	flags.Var(cli.Number{Value: &o.rounds, Min: 1, Max: 1000}, "count", "how many rounds; with fewer than 4, --compare finds no change")
	flags.BoolVar(&o.json, "json", false, "print one object: the machine and all samples")
	flags.StringVar(&o.report, "report", "", "write a page with charts to this `file`, which is replaced if it exists")
	flags.StringVar(&o.compare, "compare", "", "show changes since the bench of this `file`, which bench --json has printed")
	cli.Complete(cmd, "duration")
	cli.Complete(cmd, "count")
	return cmd
}

func run(cmd *cobra.Command, o options) (err error) {
	if o.duration < minDuration {
		return cli.Usagef("--duration is %v, want %v or more, such as 500ms", o.duration, minDuration)
	}
	var old *result
	if cmd.Flags().Changed("compare") {
		if old, err = read(o.compare); err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
	}
	if cmd.Flags().Changed("report") {
		if o.report == "" {
			return cli.Usagef("--report is empty, want the name of a file, such as bench.html")
		}
		if err := writable(o.report); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}

	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	r, err := measureAll(ctx, o, cmd.ErrOrStderr())
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, uid.ErrTimeExhausted) && o.layout.End().After(time.Now()):
		return err // borrowing ended it
	default:
		return cli.AtStart(err)
	}
	if old != nil {
		r.compare(old)
	}
	if o.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	} else {
		err = r.write(cmd.OutOrStdout())
	}
	if o.report != "" && len(r.Figures) > 0 {
		err = errors.Join(err, r.writeReport(o.report))
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
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
