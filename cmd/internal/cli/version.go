package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newVersion returns the subcommand that prints what --version prints.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go version",
		Example: "  uidring version",
		Args:    NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s version %s\n", cmd.Root().Name(), Version())
			return err
		},
	}
}

// Version returns the version, the commit if the build knows it, and Go's version.
func Version() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok { // false without modules
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit = settings["vcs.revision"]; commit != "" {
			if settings["vcs.modified"] == "true" {
				commit += " with changes"
			}
			commit = "commit " + commit + ", "
		}
	}
	return fmt.Sprintf("%s (%s%s %s/%s)", Release(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version that a build gives by
// -ldflags '-X github.com/uidring/uidring/cmd/internal/cli.release=v1.2.3', where Go finds
// none: in a container without .git, for example. The linker alone writes it.
var release string

// Release is the version that the build gave, or else Go's: the one that was installed, or of
// the commit that was checked out.
func Release() string {
	built := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		built = cmp.Or(info.Main.Version, built)
	}
	return cmp.Or(release, built)
}
