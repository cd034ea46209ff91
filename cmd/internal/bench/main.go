// Command bench measures the generators of uidring against peers: other id
// libraries, what one would write by hand, and the floors under all of them. It
// writes a page in Markdown, with the machine, the spread of each figure, and the
// bars: what the project promises about its speed.
//
// Usage, in the folder of the module:
//
//	go run . -o BENCHMARKS.md
//	go run . -server -o ../../uidringd/BENCHMARKS.md
//
// With -server it measures uidringd, beside an empty handler and other servers.
//
// It is a module of its own, so that an app that links uidring does not download the
// peers. Package measure, which the command's bench uses too, does the measuring.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/measure"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var (
		r      = results{Machine: measure.ThisMachine()}
		output = flags.String("o", "", "write the page to this `file`, not to standard output")
		check  = flags.Bool("check", false, "exit with an error if a bar is missed")
		server = flags.Bool("server", false, "measure uidringd")
		empty  = flags.Bool("serve-empty", false, "be the server with an empty handler, beside which uidringd is measured")
	)
	flags.IntVar(&r.Count, "count", 7, "rounds; each figure is a median over them")
	flags.DurationVar(&r.Time, "time", 150*time.Millisecond, "how long a sample lasts")
	flags.DurationVar(&r.Paced, "latency", 500*time.Millisecond, "how long a paced sample lasts")
	flags.DurationVar(&r.Calm.Patience, "patience", 2*time.Minute, "how long in all to wait for a busy machine to be calm")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if r.Count < 1 || r.Time <= 0 || r.Paced <= 0 {
		return fmt.Errorf("-count is %d, -time %v, -latency %v; want more than 0", r.Count, r.Time, r.Paced)
	}

	switch {
	case *empty:
		return runEmpty()
	case *server:
		return benchServers(ctx, r, "go run . "+strings.Join(args, " "), *output, *check)
	}
	r.plan()
	dir, err := folder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := r.startup.build(ctx, dir); err != nil {
		return err
	}
	if err := r.run(ctx, func(line string) { fmt.Fprintln(os.Stderr, line) }); err != nil {
		return err
	}
	return r.publish("go run . "+strings.Join(args, " "), *output, *check)
}

func (r *results) publish(command, output string, check bool) error {
	text, err := r.page(command)
	if err != nil {
		return err
	}
	return publish(text, r.missed(), output, check)
}

// publish writes a page. If check is set, it then fails if a bar is missed.
func publish(text string, missed []bar, output string, check bool) (err error) {
	if output == "" {
		_, err = os.Stdout.WriteString(text)
	} else {
		err = os.WriteFile(output, []byte(text), 0o644)
	}
	if err == nil && check && len(missed) > 0 {
		return fmt.Errorf("%d bars are missed, the first is %s: want %s, measured %s",
			len(missed), missed[0].What, missed[0].Want, missed[0].Measured)
	}
	return err
}
