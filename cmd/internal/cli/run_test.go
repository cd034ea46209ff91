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
