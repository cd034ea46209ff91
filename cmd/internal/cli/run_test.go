package cli_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// full is a file of a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A write that fails is no wrong use, not even before the command has begun.
func TestFailedWrite(t *testing.T) {
	for _, args := range []string{"", "--help", "version"} {
		root := &cobra.Command{Use: "uidring", Long: "A test.", RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		root.AddCommand(cli.NewVersion())
		var stderr strings.Builder
		if code := cli.Run(t.Context(), root, strings.Fields(args), nil, full{}, &stderr); code != 1 || stderr.String() != "uidring: write to standard output: no space left\n" {
			t.Errorf("%q ends with %d and %q, want 1 and the error", args, code, &stderr)
		}
	}
}

// The error about a wrong value is one line, with a right one, and says where help is.
func TestWrongValue(t *testing.T) {
	for args, want := range map[string]string{
		"--many 0":  "want a whole number from 1 to 9; for example --many 5",
		"--many -1": "want a whole number from 1 to 9; for example --many 5",
		"-1":        "unknown shorthand flag: '1' in -1; to give -1 as an argument, write -- -1",
		"x":         `unknown argument "x": uidring takes flags only`,
	} {
		many := int64(5)
		root := &cobra.Command{Use: "uidring", Args: cli.NoArguments, RunE: func(*cobra.Command, []string) error { return nil }}
		root.Flags().Var(cli.Number{Value: &many, Min: 1, Max: 9}, "many", "")
		var stderr strings.Builder
		code := cli.Run(t.Context(), root, strings.Fields(args), nil, new(strings.Builder), &stderr)
		if code != 2 || !strings.HasSuffix(stderr.String(), want+"\nSee 'uidring --help'.\n") {
			t.Errorf("%q ends with %d and %q, want 2 and %q", args, code, &stderr, want)
		}
	}
}
