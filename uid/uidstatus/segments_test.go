package uidstatus

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid/segment"
)

// shown returns what the page has for a key.
func shown(page, key string) string {
	found := regexp.MustCompile(`data-text="` + key + `">([^<]*)<`).FindStringSubmatch(page)
	if found == nil {
		return "nothing"
	}
	return found[1]
}

// The picture of a segment says how much of both ranges is left, and whether the
// second is there.
func TestRanges(t *testing.T) {
	for name, c := range map[string]struct {
		change           func(s *segment.Stats)
		use, next, loads string
		used             []string // widths of the bars
	}{
		"ready":   {func(s *segment.Stats) {}, "800 of 1,000 ids are left", "1,000 ids are ready", "ready", []string{"200", "0"}},
		"loading": {func(s *segment.Stats) { *s = counters()["orders"] }, "250 of 1,000 ids are left", "loading for 50 ms", "loading for 50 ms", []string{"750", "1000"}},
		"idle":    {func(s *segment.Stats) { s.Next, s.Remaining = segment.Range{}, 1000 }, "1,000 of 1,000 ids are left", "not loaded", "not loaded", []string{"0", "1000"}},
		"closed":  {func(s *segment.Stats) { *s = counters()["closed"] }, "0 of 1,000 ids are left", "1,000 ids are ready", "ready", []string{"1000", "0"}},
		"none":    {func(s *segment.Stats) { *s = segment.Stats{} }, "not loaded", "not loaded", "not loaded", []string{"1000", "1000"}},
	} {
		s := counters()["invoices"]
		c.change(&s)
		p := at(t, several())
		p.counters = func() map[string]segment.Stats { return map[string]segment.Stats{"a&b": s} }
		page := get(t, p, "/?segment=a%26b").Body.String()
		if use, next, loads := shown(page, "in-use"), shown(page, "next"), shown(page, "loading"); use != c.use || next != c.next || loads != c.loads {
			t.Errorf("%s: in use %q, next %q, loading %q", name, use, next, loads)
		}
		var used []string
		for _, width := range regexp.MustCompile(`class="track" width="(\d+)"`).FindAllStringSubmatch(page, -1) {
			used = append(used, width[1])
		}
		if strings.Join(used, " ") != strings.Join(c.used, " ") {
			t.Errorf("%s: %v of the ranges are used, want %v", name, used, c.used)
		}
		if strings.Contains(page, "Decode") || !strings.Contains(page, "a&amp;b") {
			t.Errorf("%s: %s", name, page)
		}
	}
}

// Many segments stand in a table, beside that of the generators. A single one has
// the page.
func TestSegmentTable(t *testing.T) {
	p := at(t, several())
	p.counters = counters
	page := get(t, p, "/").Body.String()
	for _, want := range []string{`>Generator</th>`, `>Segment</th>`, `href="?segment=invoices"`, `href="?name=orders"`, `href="?segment=orders"`, "loading for 50 ms"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Count(page, "<table>") != 2 || strings.Count(page, "<tr ") != len(several())+len(counters()) {
		t.Errorf("%s", page)
	}

	one, err := New(nil, Config{Segments: func() map[string]segment.Stats { return map[string]segment.Stats{"orders": counters()["orders"]} }})
	if err != nil {
		t.Fatal(err)
	}
	if page := get(t, one, "/").Body.String(); !strings.Contains(page, `<h2 id="name">orders</h2>`) || strings.Contains(page, "All generators") {
		t.Errorf("the only segment: %s", page)
	}
	none, err := New(nil, Config{Segments: func() map[string]segment.Stats { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if w := get(t, none, "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "There is no segment yet.") {
		t.Errorf("no segment: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{"/?segment=nosuch", "/stats.json?segment=nosuch"} {
		if w := get(t, p, target); w.Code != 404 || !strings.Contains(w.Body.String(), "nosuch") || !strings.Contains(w.Body.String(), "invoices") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if body := get(t, p, "/stats.json?segment=away").Body.String(); strings.Count(body, `"tag"`) != 1 || !strings.Contains(body, `"generators":[]`) {
		t.Error(body)
	}
}

func TestJudgeSegment(t *testing.T) {
	away := &segment.LoadError{Err: errors.New("refused")}
	for name, c := range map[string]struct {
		stats segment.Stats
		want  state
		note  string
	}{
		"fine":       {segment.Stats{Remaining: 5}, fine, ""},
		"between":    {segment.Stats{}, fine, ""},
		"away":       {segment.Stats{Remaining: 5, LastError: away}, warning, "Ids end when the loaded ids are used: segment: store is away"},
		"no id left": {segment.Stats{LastError: away}, failing, "All loaded ids are used"},
		"used up":    {segment.Stats{Remaining: 5, LastError: segment.ErrUsedUp}, warning, "The counter is used up."},
		"closed":     {segment.Stats{Closed: true}, failing, "The generator is closed."},
	} {
		got, notes := judgeSegment(c.stats)
		if got != c.want || !strings.Contains(strings.Join(notes, " "), c.note) || (got == fine) != (len(notes) == 0) {
			t.Errorf("%s: %v, %q", name, got, notes)
		}
	}
}
