package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what the build knows about itself.
func Version() string {
	return fmt.Sprintf("%s (%s %s/%s)", Release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version that a build gives by
// -ldflags '-X github.com/uidring/uidring/cmd/internal/cli.release=v1.2.3', where Go finds
// none: in a container without .git, for example. The linker alone writes it.
var release string

// Release is the version that the build gave, or else Go's: the one that was installed, or of
// the commit that was checked out.
func Release() string {
	built := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok { // false without modules
		built = cmp.Or(info.Main.Version, built)
	}
	return cmp.Or(release, built)
}
