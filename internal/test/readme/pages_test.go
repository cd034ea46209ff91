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

	"github.com/uidring/uidring/internal/test/need"
)

// site is where the pages are, for links from elsewhere.
const site = "https://github.com/uidring/uidring/blob/main/"

// TestDocLinks: where the docs of a package name a page, they link it as a documentation
// site shows it.
func TestDocLinks(t *testing.T) {
	page := regexp.MustCompile(`[\w/.:-]*\w+\.md\b`)
	each(t, func(path string) {
		public := !regexp.MustCompile(`/(internal|cmd|testdata)/`).MatchString(path)
		if !public || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		need.Must(t, err)
		for _, group := range file.Comments {
			text := group.Text()
			for _, found := range page.FindAllString(text, -1) {
				if !strings.HasPrefix(found, site) && !regexp.MustCompile(`(?m)^\[`+regexp.QuoteMeta(found)+`\]: `+site).MatchString(text) {
					t.Errorf("%s: %s is not a link", path, found)
				}
			}
		}
	})
}

// TestLinks: each link of a page, and each link to this repository from any file, leads to a file and a
// heading that exist.
func TestLinks(t *testing.T) {
	relative := regexp.MustCompile(`(?:\]\(|(?:src|srcset|href)=")([\w./-]*)(?:#([\w-]+))?[)"]`)
	absolute := regexp.MustCompile(`https://github\.com/uidring/uidring/(?:blob|tree)/main/([\w./-]*\w)(?:#([\w-]+))?`)
	packages := regexp.MustCompile(`https://pkg\.go\.dev/github\.com/uidring/uidring/([\w/]*\w)`)
	links := 0
	check := func(path, to, heading string) {
		links++
		if _, err := os.Stat(to); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if heading != "" && !headings(t, to)[heading] {
			t.Errorf("%s: %s has no heading #%s", path, to, heading)
		}
	}
	each(t, func(path string) {
		text, err := os.ReadFile(path)
		need.Must(t, err)
		for _, found := range absolute.FindAllSubmatch(text, -1) {
			check(path, filepath.Join(top, string(found[1])), string(found[2]))
		}
		for _, found := range packages.FindAllSubmatch(text, -1) {
			check(path, filepath.Join(top, string(found[1])), "")
		}
		if filepath.Ext(path) != ".md" {
			return
		}
		for _, found := range relative.FindAllSubmatch(text, -1) {
			to := path
			if len(found[1]) > 0 {
				to = filepath.Join(filepath.Dir(path), string(found[1]))
			}
			check(path, to, string(found[2]))
		}
	})
	if links < 100 {
		t.Errorf("%d links are too few", links)
	}
}

// each calls f for every file of the repository. Paths have slashes.
func each(t *testing.T, f func(path string)) {
	t.Helper()
	need.Must(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case err == nil && d.Type().IsRegular():
			f(filepath.ToSlash(path))
		}
		return err
	}))
}

// TestReadNext: README.md and docs are short, and README.md leads to every page, but those of subcommands, which the pages of the
// commands link, and GitHub's templates.
func TestReadNext(t *testing.T) {
	readme := read(t, "README.md")
	if lines := strings.Count(readme, "\n"); lines > 90 {
		t.Errorf("README.md has %d lines, want 90 or less", lines)
	}
	words := 0
	each(t, func(path string) {
		page := strings.TrimPrefix(path, filepath.ToSlash(top)+"/")
		if filepath.Ext(page) != ".md" || page == "README.md" || strings.HasPrefix(page, ".github/") || strings.HasPrefix(page, "docs/reference/") && strings.Contains(page, "_") {
			return
		}
		folder, name := filepath.Split(page)
		if folder == "docs/" {
			words += len(strings.Fields(read(t, page)))
		}
		if !strings.Contains(readme, "("+page+")") && (name != "README.md" || !strings.Contains(readme, "("+strings.TrimSuffix(folder, "/")+")")) {
			t.Errorf("README.md has no link to %s", page)
		}
	})
	if words > 14_000 {
		t.Errorf("the pages in docs have %d words, want 14,000 or less", words)
	}
}

// headings returns the anchors of a page.
func headings(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	need.Must(t, err)
	anchors := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(found[1]), "")
		anchors[strings.ReplaceAll(name, " ", "-")] = true
	}
	return anchors
}

// TestModules: docs/choosing.md names every module that needs a go get of its own.
func TestModules(t *testing.T) {
	_, packages, _ := strings.Cut(read(t, "docs/choosing.md"), "\n## Packages\n")
	for _, pattern := range []string{"uid/*/go.mod", "uid/*/*/go.mod", "worker/*/go.mod"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d modules, %v", pattern, len(files), err)
		}
		for _, file := range files {
			module, _ := filepath.Rel(top, filepath.Dir(file))
			if !strings.Contains(packages, "`"+filepath.ToSlash(module)+"`") {
				t.Errorf("docs/choosing.md does not say that %s is a module of its own", module)
			}
		}
	}
}

// TestFigures: the figures of the chart, and the promise that README repeats, stand in docs/benchmarks.md.
func TestFigures(t *testing.T) {
	page, name, bars := read(t, "docs/benchmarks.md"), "", 0
	for _, found := range regexp.MustCompile(`<text x="(\d+)" y="\d+" >([^<]*)</text>`).FindAllStringSubmatch(read(t, "docs/speed.svg"), -1) {
		if found[1] == "10" {
			name = found[2]
			continue
		}
		bars++
		if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(name) + "` \\|.* " + regexp.QuoteMeta(found[2]) + " ±").MatchString(page) {
			t.Errorf("docs/benchmarks.md does not have %s of %s", found[2], name)
		}
	}
	if bars == 0 {
		t.Error("the chart has no figures")
	}
	_, most, _ := strings.Cut(page, "| `Cached.Next` ÷ `add` | ≤ ")
	most, _, _ = strings.Cut(most, ":")
	if !strings.Contains(read(t, "README.md"), "if it costs more than "+most+" times an atomic add") {
		t.Errorf("README does not promise %s times an atomic add", most)
	}
}
