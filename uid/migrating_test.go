package uid_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// The tests of this file hold MIGRATING.md to its word where no other test does.

// TestPagesNames: every name of Go in the pages is there.
func TestPagesNames(t *testing.T) {
	known := map[string]bool{}
	for _, dir := range []string{".", "../bits", "../worker", "../worker/lease", "../ringbuffer", "../padding"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			exported(t, file, known)
		}
	}
	name := regexp.MustCompile("`((?:uid|bits|worker|lease|ringbuffer|padding)\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)[(`]")
	for _, page := range []string{"MIGRATING.md", "../bits/LAYOUTS.md", "../bits/SUCCESSION.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := name.FindAllStringSubmatch(string(text), -1)
		if len(found) < 8 {
			t.Errorf("%s has %d names, want 8 or more", page, len(found))
		}
		for _, match := range found {
			if !known[match[1]] {
				t.Errorf("%s speaks of %s, which there is not", page, match[1])
			}
		}
	}
}

// exported adds the names that a file declares: pkg.Name, and pkg.Type.Member for
// methods and fields. Those of what is embedded are the generators'.
func exported(t *testing.T, path string, names map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg := file.Name.Name + "."
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[pkg+d.Name.Name] = true
				continue
			}
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if owner, ok := receiver.(*ast.Ident); ok && slices.Contains([]string{"claims", "dealer", "stamp"}, owner.Name) {
				names[pkg+"Cached."+d.Name.Name] = true
			} else if ok {
				names[pkg+owner.Name+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[pkg+name.Name] = true
					}
				case *ast.TypeSpec:
					names[pkg+s.Name.Name] = true
					if fields, ok := s.Type.(*ast.StructType); ok {
						for _, field := range fields.Fields.List {
							for _, name := range field.Names {
								names[pkg+s.Name.Name+"."+name.Name] = true
							}
						}
					}
				}
			}
		}
	}
}

// TestStockEpoch: the number that uid-generator's epochSeconds starts with is
// midnight in China, and the layout ends eight hours earlier with it than in UTC.
func TestStockEpoch(t *testing.T) {
	china, err := bits.ParseLayout("baidu,epoch=2016-05-20T00:00:00+08:00")
	if err != nil {
		t.Fatal(err)
	}
	if got := china.Epoch.UnixMilli(); got != 1463673600000 {
		t.Errorf("the epoch is %d, want 1463673600000", got)
	}
	text, err := os.ReadFile("MIGRATING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []bits.Layout{china, bits.Baidu()} {
		if end := layout.End().Format(time.TimeOnly); !strings.Contains(string(text), "at "+end) {
			t.Errorf("MIGRATING.md lacks %s, the end of %s", end, layout)
		}
		if _, err := uid.NewCached(context.Background(), uid.StaticWorker(1), uid.CachedConfig{Layout: layout}); err == nil {
			t.Errorf("%s makes ids, want it over", layout)
		}
	}
}

// TestNegativeIDs: an id that the original made after the end is refused, and is
// read without its sign.
func TestNegativeIDs(t *testing.T) {
	ids, err := bits.NewAllocator(bits.Baidu())
	if err != nil {
		t.Fatal(err)
	}
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
	page, err := os.ReadFile("MIGRATING.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("migrating_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\r?\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 1 {
		t.Fatalf("MIGRATING.md has %d blocks of Go, want 1", len(blocks))
	}
	for _, line := range strings.Split(strings.TrimSpace(blocks[0][1]), "\n") {
		code, _, _ := strings.Cut(line, " //")
		if !strings.Contains(string(source), "\t\t"+strings.TrimSpace(code)+"\n") {
			t.Errorf("MIGRATING.md has %q, which no test here does", code)
		}
	}
}

// TestLaterEpoch: where the widths stay, ids of two workers differ, whatever the
// epochs are that they count from.
func TestLaterEpoch(t *testing.T) {
	before, err := bits.NewAllocator(bits.Baidu())
	if err != nil {
		t.Fatal(err)
	}
	after, err := bits.NewAllocator(bits.Default()) // the same widths
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tick, sequence := rapid.Int64Range(0, 1<<28-1), rapid.Int64Range(0, 1<<13-1)
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1<<22-1), 2, 2, rapid.ID[int64]).Draw(t, "workers")
		old, err := before.Compose(tick.Draw(t, "old tick"), numbers[0], sequence.Draw(t, "old sequence"))
		if err != nil {
			t.Fatal(err)
		}
		made, err := after.Compose(tick.Draw(t, "new tick"), numbers[1], sequence.Draw(t, "new sequence"))
		if err != nil || made == old {
			t.Fatalf("%d is made under both epochs (%v)", made, err)
		}
	})
}

// TestFirstTick: the first id is of the present tick.
func TestFirstTick(t *testing.T) {
	now := time.Date(2026, time.November, 20, 10, 0, 0, 999_000_000, time.UTC)
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(1), uid.CachedConfig{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	id, err := gen.Next()
	if err != nil {
		t.Fatal(err)
	}
	if parts, err := gen.Parse(id); !parts.Time.Equal(now.Truncate(time.Second)) || err != nil {
		t.Errorf("the first id is of %v (%v), want %v", parts.Time, err, now.Truncate(time.Second))
	}
}
