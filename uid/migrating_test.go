package uid_test

import (
	"math"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The tests of this file hold docs/migrating.md to its word where no other test does.

// TestPagesNames: every name of Go in the pages is there.
func TestPagesNames(t *testing.T) {
	known := map[string]bool{}
	line := regexp.MustCompile(`^(\t|type |func |var |const )(?:\(\w+ \*?(\w+)\) )?([A-Z][\w, ]*)`)
	for _, pkg := range []string{"uid", "bits", "worker", "worker/lease", "ringbuffer", "padding"} {
		api, err := os.ReadFile("../testdata/api/" + pkg + ".txt")
		need.Must(t, err)
		owner := ""
		for text := range strings.Lines(string(api)) {
			match := line.FindStringSubmatch(text)
			if match == nil {
				continue
			}
			for name := range strings.SplitSeq(match[3], ", ") { // fields of one type come together
				name, _, _ = strings.Cut(name, " ")
				known[path.Base(pkg)+"."+name] = true
				known[path.Base(pkg)+"."+owner+"."+name] = true
				known[path.Base(pkg)+"."+match[2]+"."+name] = true
				if match[1] == "type " {
					owner = name
				}
			}
		}
	}
	name := regexp.MustCompile("`((?:uid|bits|worker|lease|ringbuffer|padding)\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)[(`]")
	for _, page := range []string{"../docs/migrating.md", "../docs/production.md", "../docs/testing.md", "../docs/databases.md", "../docs/choosing.md"} {
		text, err := os.ReadFile(page)
		need.Must(t, err)
		found := name.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no names", page)
		}
		for _, match := range found {
			if !known[match[1]] {
				t.Errorf("%s speaks of %s, which there is not", page, match[1])
			}
		}
	}
}

// TestNegativeIDs: an id that the original made after the end is refused, and is
// read without its sign.
func TestNegativeIDs(t *testing.T) {
	ids, err := bits.NewAllocator(bits.Baidu())
	need.Must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		delta := rapid.Int64Range(1<<28, 1<<29-1).Draw(t, "delta")
		worker := rapid.Int64Range(0, 1<<22-1).Draw(t, "worker")
		sequence := rapid.Int64Range(0, 1<<13-1).Draw(t, "sequence")
		old := delta<<35 | worker<<13 | sequence // as the original reckons, masking nothing
		if old >= 0 {
			t.Fatalf("%d is not negative", old)
		}
		if err := new(uid.ID).Scan(old); err == nil {
			t.Fatalf("%d is taken for an id", old)
		}
		parts, err := ids.Parse(old & math.MaxInt64)
		made := parts.Time.Add(1 << 28 * time.Second)
		if want := bits.Baidu().Epoch.Add(time.Duration(delta) * time.Second); !made.Equal(want) || parts.Worker != worker || parts.Sequence != sequence || err != nil {
			t.Fatalf("%d reads as %+v, made at %v, want %v, %d, %d", old, parts, made, want, worker, sequence)
		}
	})
}

// TestPageCode: the page's code on negative ids is that of the test above.
func TestPageCode(t *testing.T) {
	page, err := os.ReadFile("../docs/migrating.md")
	need.Must(t, err)
	source, err := os.ReadFile("migrating_test.go")
	need.Must(t, err)
	_, code, found := strings.Cut(string(page), "so read such columns as `int64`:\n\n```go\n")
	code, _, ends := strings.Cut(code, "```")
	if !found || !ends {
		t.Fatal("docs/migrating.md has no code on negative ids")
	}
	for line := range strings.SplitSeq(strings.TrimSpace(code), "\n") {
		code, _, _ := strings.Cut(line, " //")
		if !strings.Contains(string(source), "\t\t"+strings.TrimSpace(code)+"\n") {
			t.Errorf("docs/migrating.md has %q, which no test here does", code)
		}
	}
}
