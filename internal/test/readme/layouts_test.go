//go:build linux

package readme

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// other matches a layout that is not the default.
var other = regexp.MustCompile(`bits\.(Registry|LongLived|JSSafe|Snowflake|Baidu)\b|\blayout[:=]? *"?(registry|long-lived|js-safe|snowflake|baidu)\b|\b\d\d/\d{1,2}/\d{1,2}\b`)

// aboutLayouts are the files that are about layouts or a Registry.
var aboutLayouts = map[string]bool{
	"docs/choosing.md": true, "docs/migrating.md": true, "bits/example_test.go": true,
	"worker/doc.go":                   true, // a Registry's new table
	"worker/example_backfill_test.go": true, // rows older than the default's epoch
	"worker/lease/example_test.go":    true, // a layout that is refused
}

// TestOneLayout: who copies examples, manifests, configs and commands from different pages gets one layout.
func TestOneLayout(t *testing.T) {
	found := map[string]bool{}
	each(t, func(file string) {
		name := strings.TrimPrefix(file, filepath.ToSlash(top)+"/")
		switch base := path.Base(name); {
		case strings.Contains(name, "/testdata/"), strings.HasPrefix(name, "docs/reference/"):
			return
		case strings.HasPrefix(name, "internal/examples/"), strings.Contains(name, "/examples/") && !strings.HasSuffix(base, "_test.go"), strings.Contains(name, "/deploy/"):
		case strings.HasPrefix(base, "example") && strings.HasSuffix(base, "_test.go"), base == "doc.go":
		case strings.HasSuffix(base, ".md"), strings.HasSuffix(base, ".yaml"), strings.HasSuffix(base, ".yml"):
		default:
			return
		}
		for i, line := range strings.Split(read(t, name), "\n") {
			for _, layout := range other.FindAllString(line, -1) {
				if layout == "31/16/16" {
					continue
				}
				if found[name] = true; !aboutLayouts[name] {
					t.Errorf("%s:%d has %s; want no layout or fleet, which a new store has", name, i+1, layout)
				}
			}
		}
	})
	for name := range aboutLayouts {
		if !found[name] {
			t.Errorf("%s is listed, and has no other layout than the default", name)
		}
	}
}
