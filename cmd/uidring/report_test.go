package main

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// content is what a page is made of.
type content struct {
	text     string
	elements map[string]int
	ids      []string
}

// readPage checks that a page is well-formed and needs nothing but itself.
func readPage(t *testing.T, page string) content {
	t.Helper()
	c := content{elements: map[string]int{}}
	for _, word := range []string{"://", "url(", "@import", "NaN", "Inf", "-9223", "ZgotmplZ", "<no value>"} {
		if strings.Contains(page, word) {
			t.Errorf("the page has %q", word)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, []string{"meta", "wbr"}, xml.HTMLEntity
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
					c.ids = append(c.ids, a.Value)
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
	slices.Sort(c.ids)
	if len(slices.Compact(slices.Clone(c.ids))) != len(c.ids) {
		t.Errorf("ids repeat: %q", c.ids)
	}
	return c
}

func TestBenchReport(t *testing.T) {
	elsewhere(t)
	bench := []string{"bench", "--duration", "1ms", "--layout", swift}
	if err := os.WriteFile("bench.html", []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	old := succeed(t, append(bench, "--json", "--report", "bench.html")...)
	plain, err := os.ReadFile("bench.html")
	if err != nil {
		t.Fatal(err)
	}
	c := readPage(t, string(plain))
	if c.elements["desc"] < 3 || c.elements["title"] != c.elements["desc"]+1 || c.elements["table"] != 5 || strings.Contains(c.text, "Change since") {
		t.Errorf("%v", c.elements)
	}
	for _, want := range []string{swift[:8], "Boost power", "50 %", "go1.", "ns an id", "3 of 0.001 s"} {
		if !strings.Contains(c.text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if err := os.WriteFile("old.json", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, append(bench, "--count", "1", "--compare", "old.json", "--report", "bench.html")...)
	compared, err := os.ReadFile("bench.html")
	if err != nil {
		t.Fatal(err)
	}
	if c := readPage(t, string(compared)); !strings.Contains(c.text, "Change since the bench of 20") || !strings.Contains(c.text, string(unknown)) ||
		!strings.Contains(c.text, "rounds: 3, now 1") || c.elements["table"] < 6 {
		t.Errorf("%s", c.text)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 2 {
		t.Errorf("%v, %v: more than the report and old.json", files, err)
	}
}

// sample is a result with all cells, each with figures of its own.
func sample(steps ...int) *result {
	r := &result{Go: "go1", Platform: "plan9/mips", Layout: "1/2/3", Seconds: 1, Rounds: 3, Time: time.Unix(1e9, 0)}
	for _, n := range steps {
		for i, s := range subjects {
			speed := math.Pow(10, float64(2*i+1)) * float64(n)
			r.Rows = append(r.Rows, row{Name: s.name, Goroutines: n, PerSecond: speed, NsPerID: 1e9 / speed, FloorRatio: float64(i + 1),
				BorrowedSeconds: float64(1000*i + n), Rounds: 3, Spread: spread{speed * 0.9, speed, speed * 1.1},
				Latency: &latency{3, spread{10, 20, 30}, spread{100, 200, 300}, spread{1e3, 2e3, 3e3}, spread{1e4, 2e4, float64(n) * 1e4}}})
		}
	}
	return r
}

// Every row is in every table, however many there are, and what is missing or
// nought is no trouble.
func TestReportCells(t *testing.T) {
	page := func(r *result) content {
		t.Helper()
		text, err := r.page()
		if err != nil {
			t.Fatal(err)
		}
		return readPage(t, string(text))
	}
	c := page(sample(1, 2, 4, 8, 16))
	for _, r := range sample(1, 2, 4, 8, 16).Rows {
		for _, want := range []string{short(r.PerSecond), short(r.Spread.Lowest) + " – ", figure(r.NsPerID) + " ns/id", goroutineCount(r.Goroutines)} {
			if !strings.Contains(c.text, want) {
				t.Errorf("no %q of %s with %d", want, r.Name, r.Goroutines)
			}
		}
	}
	if want := 5*5*3 + 25*4 + 25*2; c.elements["td"] != want {
		t.Errorf("%d cells, want %d", c.elements["td"], want)
	}
	// Four charts: a dot for each subject that is charted, and all of them borrow.
	if want := 4 * 4 * 5; c.elements["circle"] != want {
		t.Errorf("%d dots, want %d", c.elements["circle"], want)
	}
	if c := page(sample(1)); c.elements["circle"] != 16 {
		t.Errorf("%d dots of one goroutine", c.elements["circle"])
	}

	partial := sample(1, 2)
	partial.Rows, partial.Interrupted = partial.Rows[:7], true
	partial.Rows[1] = row{Name: subjects[1].name, Goroutines: 1, Rounds: 1, Stopped: "out of time"}
	c = page(partial)
	for _, want := range []string{"It was interrupted", "out of time", "–"} {
		if !strings.Contains(c.text, want) {
			t.Errorf("no %q", want)
		}
	}
	nothing := &result{Rows: []row{{Name: subjects[0].name, Goroutines: 1}}}
	if c := page(nothing); c.elements["circle"] != 0 || !strings.Contains(c.text, "not known") {
		t.Errorf("%v", c.elements)
	}
	even := sample(1)
	for i := range even.Rows {
		even.Rows[i].Spread = spread{1000, 1000, 1000}
	}
	page(even)
}

// What machine, layout and an old file say is text, whatever it looks like.
func TestReportEscapes(t *testing.T) {
	const hostile = `</p></style><script>alert("1")</script><img src=x onerror='x'>{{.}}&amp;`
	r := sample(1)
	r.CPU, r.System, r.Version, r.Layout, r.Go, r.Platform = hostile, hostile, hostile, hostile, hostile, hostile
	r.Rows[1].Stopped = hostile
	old := sample(1)
	old.CPU, old.System, old.Layout, old.Version = "1"+hostile, "2"+hostile, "3"+hostile, "4"+hostile
	r.Comparison = compareWith(old, r)
	text, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	c := readPage(t, string(text))
	if got := strings.Count(c.text, hostile); got != 17 {
		t.Errorf("it is there %d times, want 17", got)
	}
}

// An interrupt before anything is measured leaves the old report.
func TestReportInterrupted(t *testing.T) {
	elsewhere(t)
	if err := os.WriteFile("bench.html", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if code := run(ctx, []string{"bench", "--report", "bench.html"}, nil, io.Discard, io.Discard); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if text, err := os.ReadFile("bench.html"); string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
}
