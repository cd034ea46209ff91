package readme

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
)

// TestLinks: where the docs of a package name a page, they link it as a documentation
// site shows it.
func TestLinks(t *testing.T) {
	page := regexp.MustCompile(`[\w/.:-]*\w+\.md\b`)
	const site = "https://github.com/uidring/uidring/blob/main/"
	links := 0
	err := filepath.WalkDir(filepath.Join(root, "../../.."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "internal" || d.Name() == "cmd" || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			text := group.Text()
			for _, found := range page.FindAllString(text, -1) {
				if name, ok := strings.CutPrefix(found, site); ok {
					links++
					if _, err := os.Stat(filepath.Join(root, "../../..", name)); err != nil {
						t.Errorf("%s: %v", path, err)
					}
				} else if !regexp.MustCompile(`(?m)^\[` + regexp.QuoteMeta(found) + `\]: ` + site).MatchString(text) {
					t.Errorf("%s: %s is no link", path, found)
				}
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Errorf("%d links, %v", links, err)
	}
}

// TestPages: a page links only files that are there.
func TestPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([\w./-]+)`)
	links := 0
	err := filepath.WalkDir(filepath.Join(root, "../../.."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(found[1], "http") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), found[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return err
	})
	if err != nil || links == 0 {
		t.Errorf("%d links, %v", links, err)
	}
}

// TestStockEnd: the pages agree with package bits when the stock layout ended.
func TestStockEnd(t *testing.T) {
	end := bits.Baidu().End().UTC()
	for _, name := range []string{"uid/MIGRATING.md", "bits/SUCCESSION.md"} {
		times := regexp.MustCompile(`\b\d\d:24:\d\d\b`).FindAllString(read(t, name), -1)
		if len(times) != 2 || times[0] != end.Add(-8*time.Hour).Format("15:04:05") || times[1] != end.Format("15:04:05") {
			t.Errorf("%s has %q, and the layout ends at %v", name, times, end)
		}
	}
}
