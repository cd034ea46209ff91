package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

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

// An error names the command that the user runs, unless that has no such subcommand.
func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"no right: uidring schema prints the tables and all privileges": "no right: uidringd schema prints the tables and all privileges",
		"uidring gen and uidring segments create make it":               "uidringd gen and uidringd segments create make it",
		"see uidring layout, uidring.db or uidringd schema":             "see uidring layout, uidring.db or uidringd schema",
	} {
		cause := errors.New(text)
		root := &cobra.Command{Use: "uidringd", RunE: func(*cobra.Command, []string) error { return cause }}
		var stderr strings.Builder
		if code := Run(t.Context(), root, nil, nil, new(strings.Builder), &stderr); code != 1 || stderr.String() != "uidringd: "+want+"\n" {
			t.Errorf("%d, %q, want %q", code, &stderr, want)
		}
		if err := Named(cause, "uidringd"); !errors.Is(err, cause) || Named(cause, "uidring").Error() != text {
			t.Errorf("%v does not match its cause, or is not the same for uidring", err)
		}
	}
}

// A cause that several lines have stands once in an error.
func TestWithoutPrefix(t *testing.T) {
	if got := WithoutPrefix(errors.New("uid: failed to connect:\n\tno such role\n\n\tno such role\nsee the log")); got != "failed to connect: no such role; see the log" {
		t.Errorf("%q", got)
	}
}
