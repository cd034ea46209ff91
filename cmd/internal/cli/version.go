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

// release is the version that a build gives by
// -ldflags '-X github.com/uidring/uidring/cmd/internal/cli.release=v1.2.3', where Go finds
// none: in a container without .git, for example. The linker alone writes it.
var release string

// Release is the version that the build gave or that was installed, or else the commit
// that was checked out.
func Release() string {
	info, _ := debug.ReadBuildInfo() // nil without modules
	return releaseOf(release, info)
}

func releaseOf(given string, info *debug.BuildInfo) string {
	const none = "(devel)"
	switch {
	case given != "":
		return given
	case info == nil:
		return none
	case info.Main.Version != "" && info.Main.Version != none:
		return info.Main.Version
	}
	revision, changed := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "+dirty"
		}
	}
	if revision == "" {
		return none
	}
	return "devel-" + revision + changed
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
