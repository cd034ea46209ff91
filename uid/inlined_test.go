package uid_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// The compiler inlines Next of Cached, a Counter and a Client into its callers, down to the atomic
// add. The Client's is near the compiler's limit: see "Why Take is inlined" in the design of package ringbuffer.
func TestNextIsInlined(t *testing.T) {
	need.CI(t)
	const file = "testdata/inlined/inlined.go"
	inlined := []string{"ringbuffer.(*Ring).Take", "ringbuffer.deal"}
	source, err := os.ReadFile(file)
	need.Must(t, err)
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			build := exec.CommandContext(t.Context(), "go", "build", "-trimpath=false", "-gcflags=-m", "./testdata/inlined")
			build.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
			said, err := build.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v\n%s", build, err, said)
			}
			callers := 0
			for i, line := range strings.Split(string(source), "\n") {
				if !strings.Contains(line, "g.Next()") {
					continue
				}
				callers++
				for _, callee := range inlined {
					call := fmt.Sprintf(`(?m)^\s*(uid/)?%s:%d:\d+: inlining call to %s\s*$`, file, i+1, regexp.QuoteMeta(callee))
					if !regexp.MustCompile(call).Match(said) {
						t.Errorf("%s is not inlined into %s", callee, line)
					}
				}
			}
			if callers != 3 {
				t.Errorf("%s has %d callers of Next, want 3", file, callers)
			}
		})
	}
}
