package bench

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
)

// content is what a page is made of.
type content struct {
	text     string
	elements map[string]int
}

// readPage checks that a page is well-formed, its pictures included, and needs
// nothing but itself.
func readPage(t *testing.T, page string) content {
	t.Helper()
	c := content{elements: map[string]int{}}
	for _, word := range []string{"://", "url(", "@import", "NaN", "Inf", "-9223", "-8000", "ZgotmplZ", "<no value>", "#FE", "#000000"} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %q", word)
		}
	}
	var ids []string
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, []string{"meta"}, xml.HTMLEntity
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			c.elements[name]++
			for _, a := range token.Attr {
				switch key := strings.ToLower(a.Name.Local); {
				case key == "id":
					ids = append(ids, a.Value)
				case key == "src" || key == "href" || key == "action" || key == "data" || strings.HasPrefix(key, "on"):
					t.Errorf("<%s %s=%q>", name, key, a.Value)
				}
			}
			if slices.Contains([]string{"script", "link", "iframe", "img", "object", "embed", "base", "form"}, name) {
				t.Errorf("the page has a <%s>", name)
			}
		case xml.CharData:
			c.text += string(token)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids repeat: %q", ids)
	}
	return c
}

func pageOf(t *testing.T, r *Result) content {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := ours.writeReport(path, ours.newPage(r)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readPage(t, string(page))
}

func TestReport(t *testing.T) {
	clitest.Elsewhere(t)
	if err := os.WriteFile("bench.html", []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	old := uidring.Succeed(t, append(short, "--json", "--report", "bench.html")...)
	if err := os.WriteFile("old.json", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("bench.html")
	if err != nil {
		t.Fatal(err)
	}
	c := readPage(t, string(page))
	if c.elements["svg"] != 3 || c.elements["table"] != 6 || strings.Contains(c.text, "Change since") {
		t.Errorf("%v", c.elements)
	}
	for i := range len(Floors()) + len(Ours(bits.Default(), 3)) {
		for _, want := range []string{"stroke:var(--tone-%X)", "--tone: var(--tone-%X)", "--tone-%X: #"} {
			if want = fmt.Sprintf(want, i); !strings.Contains(string(page), want) {
				t.Errorf("no %s in the page", want)
			}
		}
	}
	for _, want := range []string{"28/22/13", "go1.", "ns an id", "1, 0.001 s a sample", "8,192 ids in 1s"} {
		if !strings.Contains(c.text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	uidring.Succeed(t, "bench", "--from", "old.json", "--compare", "old.json", "--report", "bench.html")
	if page, err = os.ReadFile("bench.html"); err != nil {
		t.Fatal(err)
	}
	if c := readPage(t, string(page)); c.elements["table"] != 7 || !strings.Contains(c.text, "Change since the run of 20") || !strings.Contains(c.text, tooFew) {
		t.Errorf("%s", c.text)
	}
}

// Every figure is in a table and in a chart, however many there are.
func TestReportCells(t *testing.T) {
	for _, steps := range [][]int{{1}, {1, 2, 4, 8, 16}} {
		r := sample(steps...)
		c := pageOf(t, r)
		if want := 9 + (3*3+1)*len(steps) + 3*4; c.elements["td"] != want {
			t.Errorf("%d cells, want %d", c.elements["td"], want)
		}
		for _, f := range r.Figures {
			if f.Unit == Cost && !strings.Contains(c.text, f.Samples.String()) {
				t.Errorf("no %s of %s with %s", f.Samples, f.Name, f.Setting)
			}
		}
		// The tiles and the table say the same of the most goroutines.
		for _, name := range r.Names(One, Cost) {
			if want := Digits(r.Of(name, Setting{Goroutines: slices.Max(steps)}, Rate).Median()); strings.Count(c.text, want) < 2 {
				t.Errorf("%s million ids/s of %s are there %d times, want 2 or more", want, name, strings.Count(c.text, want))
			}
		}
		// Each point has a dot and a bar of three strokes, of two sections at least.
		if want := 2 * 3 * len(steps) * 4; c.elements["path"] < want {
			t.Errorf("%d lines for %d steps, want %d", c.elements["path"], len(steps), want)
		}
	}
	partial := sample(1, 2)
	partial.Figures = slices.DeleteFunc(partial.Figures, func(f Figure) bool { return f.Name != Add && f.Unit == Cost && f.Goroutines == 1 })
	partial.Interrupted = true
	if c := pageOf(t, partial); !strings.Contains(c.text, "was interrupted") || !strings.Contains(c.text, "–") {
		t.Errorf("%s", c.text)
	}
}

// What the machine, the layout and an old file say is text, whatever it looks like.
func TestReportEscapes(t *testing.T) {
	const hostile = `</p></style><script>alert("1")</script><img src=x onerror='x'>{{.}}&amp;|`
	r := sample(1)
	r.CPU, r.Version, r.Layout, r.Go, r.Platform, r.Command, r.Limits = hostile, hostile, hostile, hostile, hostile, hostile, hostile+"\n\n![ns/id]\n\n"
	r.Add(Of(hostile, One, Cost, 1), Of(hostile, One, Rate, 1), Of(hostile, Setting{}, Latencies[0], 1), Of("a\x1bb\n\n![ns/id]\n\nc", One, Cost, 1))
	old := sample(1)
	old.CPU, old.Layout, old.Version = "1"+hostile, "2"+hostile, "3"+hostile+"\n\n![ns/id]\n\n"
	old.Add(Of(hostile, One, Cost, 2))
	r.compare(old)
	c := pageOf(t, r)
	if strings.Count(c.text, hostile) < 16 || c.elements["svg"] != 3 {
		t.Errorf("it is there %d times, with %d charts", strings.Count(c.text, hostile), c.elements["svg"])
	}
	if text, err := ours.markdown(ours.newPage(r)); err != nil || strings.Contains(plain(text), "\x1b") || strings.Count(plain(text), hostile) < 15 {
		t.Errorf("%s, %v", plain(text), err)
	}
}

func TestReportElsewhere(t *testing.T) {
	clitest.Elsewhere(t)
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".", "no/bench.html", "file/bench.html"} {
		got := uidring.Invoke(t, "", "bench", "--duration", "1ms", "--count", "1", "--report", path)
		if got.Code != 1 || !strings.Contains(got.Stderr, "--report: open "+path+":") {
			t.Errorf("%s: %+v", path, got)
		}
	}
}
