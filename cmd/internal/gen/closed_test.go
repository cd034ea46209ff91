package gen

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// A number that was not given back makes gen fail, unless gen has failed anyway.
func TestClosed(t *testing.T) {
	cmd := new(cobra.Command)
	cmd.SetErr(io.Discard)
	away := errors.New("unavailable")
	for _, tt := range []struct{ failed, err, want error }{
		{nil, nil, nil}, {nil, cli.ErrNoReader, cli.ErrNoReader}, {away, nil, cli.ErrReported}, {away, cli.ErrNoReader, cli.ErrReported},
		{away, context.Canceled, context.Canceled},
	} {
		if got := new(flags).closed(cmd, tt.failed, tt.err); got != tt.want {
			t.Errorf("closed(%v, %v) = %v, want %v", tt.failed, tt.err, got, tt.want)
		}
	}
}
