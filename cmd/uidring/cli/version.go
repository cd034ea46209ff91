package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is what the build knows about itself.
func Version() string {
	return fmt.Sprintf("%s (%s %s/%s)", Release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Release is the version that was installed, or the commit that was checked out.
func Release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// NewVersion returns the subcommand that prints what --version does.
func NewVersion() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		Example:           "  uidring version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", cmd.Root().Name(), Version())
			return err
		},
	}
}
