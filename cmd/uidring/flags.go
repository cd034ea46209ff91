package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
)

// number is a flag whose value is a whole number of a range.
type number struct {
	value    *int64
	min, max int64
}

func (n number) String() string {
	if n.value == nil { // pflag asks a zero value when it writes help
		return ""
	}
	return strconv.FormatInt(*n.value, 10)
}

func (n number) Type() string { return "int" }

func (n number) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < n.min || v > n.max {
		return fmt.Errorf("want a whole number from %d to %d", n.min, n.max)
	}
	*n.value = v
	return nil
}

// choice is a flag whose value is one of a few words.
type choice struct {
	value *string
	words []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return "name" }

func (c choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return fmt.Errorf("want %s", strings.Join(c.words, " or "))
	}
	*c.value = text
	return nil
}

// source is a flag that says where the worker number comes from.
type source struct {
	kind   string // leaseSource, registrySource or staticSource
	number int64  // of staticSource
}

const (
	leaseSource    = "lease"
	registrySource = "registry"
	staticSource   = "static:"
)

func (s *source) String() string {
	if s.kind == staticSource {
		return staticSource + strconv.FormatInt(s.number, 10)
	}
	return s.kind
}

func (s *source) Type() string { return "source" }

func (s *source) Set(text string) error {
	if text == leaseSource || text == registrySource {
		*s = source{kind: text}
		return nil
	}
	digits, ok := strings.CutPrefix(text, staticSource)
	n, err := strconv.ParseUint(digits, 10, 63)
	if !ok || err != nil {
		return errors.New("want lease, registry, or static:N with a number from 0 on")
	}
	*s = source{staticSource, int64(n)}
	return nil
}

// layoutFlag adds --layout, which reads text as bits.ParseLayout does.
func layoutFlag(cmd *cobra.Command, layout *bits.Layout, usage string) {
	cmd.Flags().TextVar(layout, "layout", bits.Default, usage+": `name` of one ("+strings.Join(bits.Names(), ", ")+")\n"+
		"or widths of ticks, worker and sequence, such as 31/23/9, either of them with\n"+
		",epoch=DATE and ,unit=DURATION after it where need be")
	complete(cmd, "layout", bits.Names()...)
}

// complete offers words for a flag's value to the user's shell.
func complete(cmd *cobra.Command, flag string, words ...string) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, directive)); err != nil {
		panic(err) // the flag is not there, or has completion already
	}
}

// negative finds the error for what looks like a flag and may be meant for a
// number.
var negative = regexp.MustCompile(`in -[0-9]+$`)

// negativeMeans is for commands whose arguments are numbers: it explains what is
// wrong with a negative one.
func negativeMeans(text string) func(*cobra.Command, error) error {
	return func(_ *cobra.Command, err error) error {
		if negative.MatchString(err.Error()) {
			return fmt.Errorf("%w: %s", err, text)
		}
		return err
	}
}
