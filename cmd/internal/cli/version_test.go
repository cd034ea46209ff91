package cli

import (
	"runtime/debug"
	"testing"
)

// A build tells its version, or its commit and whether files differ from it.
func TestRelease(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "false"}}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}
	of := func(version string, settings []debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	for _, tt := range []struct {
		given string
		info  *debug.BuildInfo
		want  string
	}{
		{"", nil, "(devel)"},
		{"", of("", nil), "(devel)"},
		{"", of("(devel)", nil), "(devel)"},
		{"", of("(devel)", commit), "devel-0123456789ab"},
		{"", of("(devel)", changed), "devel-0123456789ab+dirty"},
		{"", of("v1.2.3", commit), "v1.2.3"},
		{"v1.2.4", of("v1.2.3", commit), "v1.2.4"},
		{"v1.2.4", nil, "v1.2.4"},
	} {
		if got := releaseOf(tt.given, tt.info); got != tt.want {
			t.Errorf("%q, %+v: %q, want %q", tt.given, tt.info, got, tt.want)
		}
	}
}
