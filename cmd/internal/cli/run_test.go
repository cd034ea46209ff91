package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// full is a file of a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A write that fails is no wrong use, not even before the command has begun.
func TestFailedWrite(t *testing.T) {
	for _, args := range []string{"", "--help", "version"} {
		root := &cobra.Command{Use: "uidring", Long: "A test.", RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		root.AddCommand(NewVersion())
		var stderr strings.Builder
		if code := Run(t.Context(), root, strings.Fields(args), nil, full{}, &stderr); code != 1 || stderr.String() != "uidring: write to standard output: no space left\n" {
			t.Errorf("%q ends with %d and %q, want 1 and the error", args, code, &stderr)
		}
	}
}

// The error about a wrong value is one line, and says where help is.
func TestWrongValue(t *testing.T) {
	for args, want := range map[string]string{
		"--many 0":  "want a whole number from 1 to 9",
		"--many -1": "want a whole number from 1 to 9",
		"-1":        "unknown shorthand flag: '1' in -1",
		"x":         `unknown command "x" for "uidring"`,
	} {
		many := int64(5)
		root := &cobra.Command{Use: "uidring", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
		root.Flags().Var(Number{Value: &many, Min: 1, Max: 9}, "many", "")
		var stderr strings.Builder
		code := Run(t.Context(), root, strings.Fields(args), nil, new(strings.Builder), &stderr)
		if code != 2 || !strings.HasSuffix(stderr.String(), want+"\nSee 'uidring --help'.\n") {
			t.Errorf("%q ends with %d and %q, want 2 and %q", args, code, &stderr, want)
		}
	}
}

// A reader that has gone ends a command without a fault, also when an interrupt comes at the
// same time.
func TestCauseOf(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	failed, interrupt := errors.New("failed"), errors.New("interrupt")
	if err := CauseOf(ctx, failed); err != failed {
		t.Error(err)
	}
	cancel(interrupt)
	for _, tt := range []struct{ err, want error }{{failed, interrupt}, {nil, nil}, {ErrNoReader, ErrNoReader}} {
		if err := CauseOf(ctx, tt.err); err != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, err, tt.want)
		}
	}
}

// The version that a build gives comes before Go's.
func TestRelease(t *testing.T) {
	defer func() { release = "" }()
	for _, release = range []string{"v1.2.3", ""} {
		if got := Release(); got == "" || release != "" && got != release {
			t.Errorf("%q, want %q", got, release)
		}
	}
}
