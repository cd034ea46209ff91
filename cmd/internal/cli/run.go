// Package cli has what the subcommands of uidring share: exit codes, flags, standard
// output and signals.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/uid"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitDoubt  = 3
)

// Main runs root as the process's command, and ends the process with the exit code.
func Main(root *cobra.Command) {
	// Writing to a closed pipe is not a failure, and must not kill the process.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(Run(context.Background(), root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run does what args say and returns the exit code. Root has commands with a RunE;
// Run adds help, version, completion and docs.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := false // what goes wrong before is wrong use
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := cmp.Or(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		started = err == nil
		return err
	}
	root.SetFlagErrorFunc(explain)
	root.Long += ExitCodes
	root.AddCommand(newVersion(), newDocs())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages | ", "Flags.FlagUsages | withoutValues | "))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	renamed(root, root.Name())
	out := &output{w: stdout}
	root.SetArgs(append([]string{}, args...)) // never nil, for which cobra takes os.Args
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Run, cmd.RunE, cmd.PersistentPreRun = nil, help, nil
		case "completion": // or cobra takes a shell that it does not know for a call for help
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.failed // which cobra drops for help
	}
	return report(stderr, cmd, err, started)
}

func init() {
	// pflag adds to each switch that it takes a value, which nobody needs.
	cobra.AddTemplateFunc("withoutValues", withoutValues)
}

func withoutValues(usages string) string {
	return strings.ReplaceAll(usages, "[=true|false]", "             ")
}

// renamed puts the command's name into the examples and help, which have uidring's.
func renamed(cmd *cobra.Command, name string) {
	cmd.Example = strings.ReplaceAll(cmd.Example, "uidring ", name+" ")
	cmd.Long = shared.ReplaceAllString(cmd.Long, name+" $1")
	for _, sub := range cmd.Commands() {
		renamed(sub, name)
	}
}

// help is cobra's help command, except that an unknown topic is wrong use.
func help(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return Usagef("unknown help topic %q", strings.Join(args, " "))
	}
	topic.InitDefaultHelpFlag()
	return topic.Help()
}

// UsageError is wrong use that a command notices while it runs.
type UsageError struct{ Err error }

// Error returns the text of the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// AtStart marks errors of a generator's start that are the flags' fault: every field of
// the config and a static worker's number is a flag. It names wrong fields by their flags.
func AtStart(err error) error {
	switch {
	case errors.Is(err, uid.ErrConfig):
		return &UsageError{errors.New(inFlags.Replace(err.Error()))}
	case errors.Is(err, uid.ErrTimeExhausted):
		return &UsageError{err}
	}
	return err
}

var inFlags = strings.NewReplacer("uid: "+uid.ErrConfig.Error()+": ", "", "Layout.Epoch", "--layout: Epoch", "Layout", "--layout",
	"BoostPower", "--boost-power", "PaddingFactor", "--padding-factor", "MaxBorrow", "--max-borrow", "MaxAge", "--max-age", "worker number is", "--worker: the number is")

// ErrReported stands for failures that the command has written to standard error. In a
// [UsageError] it stands for wrong use.
var ErrReported = errors.New("reported")

// ErrDoubtful stands for ids that were read but are doubtful, which the command has written to standard error.
var ErrDoubtful = errors.New("doubtful")

// report writes err, if there is something to write, and returns the exit code.
func report(stderr io.Writer, cmd *cobra.Command, err error, started bool) int {
	ended, signaled := errors.AsType[*signalError](err)
	_, usage := errors.AsType[*UsageError](err)
	switch {
	case err == nil, errors.Is(err, ErrNoReader):
		return exitOK
	case errors.Is(err, ErrReported) && usage:
		return exitUsage
	case errors.Is(err, ErrDoubtful):
		return exitDoubt
	case errors.Is(err, ErrReported):
		return exitFailed
	case signaled:
		return 128 + int(ended.signal)
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.Root().Name(), WithoutPrefix(Named(err, cmd.Root().Name())))
	if started && !usage || errors.Is(err, errWrite) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
	return exitUsage
}

// shared matches the commands that uidring and uidringd both have.
var shared = regexp.MustCompile(`\buidring (backfill|gen|parse|schema|segments|workers)\b`)

// Named returns err with another name in its text for the command uidring, which the library's errors name.
func Named(err error, name string) error {
	text := shared.ReplaceAllString(err.Error(), name+" $1")
	if text == err.Error() {
		return err
	}
	return &namedError{err, text}
}

type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }

func (e *namedError) Unwrap() error { return e.error }

// WithoutPrefix returns an error's text in one line, without the names of the packages
// that it begins with.
func WithoutPrefix(err error) string {
	text := oneLine(err.Error())
	for {
		name, rest, found := strings.Cut(text, ": ")
		switch name {
		case "bits", "uid", "padding", "opaque", "worker", "lease", "segment", "segmentsql", "workeretcd", "workerredis", "workerzk":
		default:
			found = false
		}
		if !found {
			return text
		}
		text = rest
	}
}

// oneLine folds text into a line: joined errors and cobra's suggestions have
// several. pgx has one for each way that it tries, with the same cause.
func oneLine(text string) string {
	var line strings.Builder
	said := map[string]bool{"": true}
	for part := range strings.Lines(text) {
		if part = strings.TrimSpace(part); said[part] {
			continue
		}
		said[part] = true
		if so := line.String(); strings.HasSuffix(so, ":") || strings.HasSuffix(so, "?") {
			line.WriteByte(' ')
		} else if so != "" {
			line.WriteString("; ")
		}
		line.WriteString(part)
	}
	return line.String()
}
