package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what the build knows about itself.
func version() string {
	return fmt.Sprintf("%s (%s %s/%s)", release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is what was installed, or the commit that was checked out.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
