package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/uidring/uidring/bits"
)

// Number is a flag whose value is a whole number from Min to Max.
type Number struct {
	Value    *int64
	Min, Max int64
}

// String implements pflag.Value.
func (n Number) String() string {
	if n.Value == nil { // pflag asks a zero value when it writes help
		return ""
	}
	return strconv.FormatInt(*n.Value, 10)
}

// Type implements pflag.Value.
func (n Number) Type() string { return "int" }

// Set implements pflag.Value.
func (n Number) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < n.Min || v > n.Max {
		return fmt.Errorf("want a whole number from %d to %d", n.Min, n.Max)
	}
	*n.Value = v
	return nil
}

// Choice is a flag whose value is one of a few words.
type Choice struct {
	Value *string
	Words []string
}

// String implements pflag.Value.
func (c Choice) String() string {
	if c.Value == nil {
		return ""
	}
	return *c.Value
}

// Type implements pflag.Value.
func (c Choice) Type() string { return "name" }

// Set implements pflag.Value.
func (c Choice) Set(text string) error {
	if !slices.Contains(c.Words, text) {
		return fmt.Errorf("want %s", strings.Join(c.Words, " or "))
	}
	*c.Value = text
	return nil
}

// LayoutFlag adds --layout, which reads text as bits.ParseLayout does. Without the flag, layout is zero,
// which usual describes.
func LayoutFlag(cmd *cobra.Command, layout *bits.Layout, usage, usual string) {
	cmd.Flags().TextVar(layout, "layout", bits.Layout{}, usage+": a `name` ("+strings.Join(bits.PresetNames(), ", ")+")\n"+
		"or the widths of ticks, worker and sequence, such as 31/23/9, in seconds from 2026-01-01;\n"+
		",epoch=DATE (midnight UTC) and ,unit=DURATION change that\n(default "+usual+")")
	Complete(cmd, "layout", bits.PresetNames()...)
}

// Complete offers words for a flag's value to the user's shell.
func Complete(cmd *cobra.Command, flag string, words ...string) {
	complete(cmd, flag, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder, words)
}

// CompleteFiles offers files for a flag's value, as [Run] does for no other flag.
func CompleteFiles(cmd *cobra.Command, flag string) {
	complete(cmd, flag, cobra.ShellCompDirectiveDefault, nil)
}

func complete(cmd *cobra.Command, flag string, directive cobra.ShellCompDirective, words []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, directive)); err != nil {
		panic(err) // the flag is not there, or has completion already
	}
}

// NoArgs is [cobra.NoArgs] for a command that has flags alone. Cobra takes an argument for an
// unknown command.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// OneArg has a command take one argument, which wanted describes.
func OneArg(wanted string) cobra.PositionalArgs { return checkArgs(1, "one "+wanted) }

// AtMostOneArg has a command take one argument, which wanted describes, or none.
func AtMostOneArg(wanted string) cobra.PositionalArgs { return checkArgs(0, "at most one "+wanted) }

func checkArgs(least int, wanted string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > 1 {
			return fmt.Errorf("arguments %q: want %s", args, wanted)
		}
		return nil
	}
}

// explain leaves the name of package bits out of an error about a flag, and says how to write a
// negative number.
func explain(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if group := unknown.GetSpecifiedShortnames(); group != "" && group[0] >= '0' && group[0] <= '9' {
			return fmt.Errorf("-%s is not a flag; for a negative number, write: %s -- -%s", group, cmd.CommandPath(), group)
		}
	}
	return errors.New(strings.Replace(err.Error(), bits.ErrLayout.Error()+": ", "", 1))
}
