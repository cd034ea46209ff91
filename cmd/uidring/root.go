package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/uid"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// run is the whole command: it does what args say and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // never nil, for which cobra takes os.Args
	root.SetIn(stdin)
	out := &output{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	addCompletion(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.failed != nil {
		err = &runError{out.failed}
	}
	return report(stderr, cmd, err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "uidring",
		Short: "Unique, time-ordered 64-bit ids",
		Long: `uidring makes 64-bit ids that are unique and sort by time, and reads them.

An id holds the time, the number of the worker that made it and a sequence. To
make ids, a worker takes a number of its own from a database, at its start; by
default that is an SQLite file, which is created if need be.`,
		Example: `  uidring gen -n 5                       five ids
  uidring gen | uidring parse            make one and read it
  uidring parse --layout baidu --uid-generator 896950744028951464
  uidring workers                        who has which number
  uidring bench                          what an id costs on this machine`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newGen(), newParse(), newWorkers(), newBench())
	root.SetHelpCommand(newHelp())
	for cmd := range below(root) {
		work := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := work(cmd, args); err != nil {
				return &runError{err}
			}
			return nil
		}
	}
	return root
}

// addCompletion adds cobra's completion command, which writes to where root does by
// now. Cobra looks at the arguments of commands only that do something, so this one
// is made to print its help: a shell that it does not know is then wrong use.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// below goes through the commands of cmd, and theirs.
func below(cmd *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		for _, sub := range cmd.Commands() {
			if !yield(sub) {
				return
			}
			for deeper := range below(sub) {
				if !yield(deeper) {
					return
				}
			}
		}
	}
}

// newHelp is cobra's help command, except that a topic that is not there is wrong
// use.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, c := range topic.Commands() {
				if c.Hidden {
					continue
				}
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("unknown help topic %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// runError marks an error that came up while a command was at work. What cobra
// returns without this mark is wrong use.
type runError struct{ error }

func (e *runError) Unwrap() error { return e.error }

// usageError is wrong use that only the command itself can notice.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errReported stands for failures that have been written to standard error
// already, one by one.
var errReported = errors.New("reported")

// report tells about err, if there is something to tell, and returns the exit
// code.
func report(stderr io.Writer, cmd *cobra.Command, err error) int {
	var ended *signalError
	switch {
	case err == nil, errors.Is(err, errNoReader):
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &ended):
		return 128 + int(ended.signal)
	}
	fmt.Fprintf(stderr, "uidring: %s\n", oneLine(err.Error()))
	if !wrongUse(err) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
	return exitUsage
}

func wrongUse(err error) bool {
	var (
		atWork *runError
		usage  *usageError
	)
	if errors.Is(err, errWrite) { // of help, say, which cobra writes
		return false
	}
	return !errors.As(err, &atWork) || errors.As(err, &usage) ||
		errors.Is(err, database.ErrURL) ||
		// Every field of the config, and a static worker's number, is a flag.
		errors.Is(err, uid.ErrConfig) || errors.Is(err, uid.ErrWorkerRange)
}

// oneLine folds text into a line: joined errors and cobra's suggestions have
// several.
func oneLine(text string) string {
	var line strings.Builder
	for part := range strings.Lines(text) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if so := line.String(); strings.HasSuffix(so, ":") || strings.HasSuffix(so, "?") {
			line.WriteByte(' ')
		} else if so != "" {
			line.WriteString("; ")
		}
		line.WriteString(part)
	}
	return line.String()
}

// noArguments is what commands have for Args that take flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown argument %q: %s takes flags only", args[0], cmd.Name())
	}
	return nil
}
