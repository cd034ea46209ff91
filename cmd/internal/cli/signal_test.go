package cli

import (
	"context"
	"errors"
	"testing"
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
