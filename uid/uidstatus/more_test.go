package uidstatus

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
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
		change    func(s *uid.Stats, l *uid.LoadStats)
		use, next string
		used      []string // widths of the bars
	}{
		"ready":   {func(*uid.Stats, *uid.LoadStats) {}, "800 of 1,000 ids are left", "1,000 ids are ready", []string{"200", "0"}},
		"loading": {func(s *uid.Stats, _ *uid.LoadStats) { *s = counters()["parcels"] }, "250 of 1,000 ids are left", "loading for 50 ms", []string{"750", "1000"}},
		"idle":    {func(s *uid.Stats, l *uid.LoadStats) { l.Next, s.Remaining = uid.Run{}, 1000 }, "1,000 of 1,000 ids are left", "not loaded", []string{"0", "1000"}},
		"closed":  {func(s *uid.Stats, _ *uid.LoadStats) { *s = counters()["closed"] }, "0 of 1,000 ids are left", "1,000 ids are ready", []string{"1000", "0"}},
		"none":    {func(s *uid.Stats, _ *uid.LoadStats) { s.Loads = new(uid.LoadStats) }, "not loaded", "not loaded", []string{"1000", "1000"}},
	} {
		s := counter("invoices", c.change)
		p := at(t, several())
		p.more = func() map[string]uid.Stats { return map[string]uid.Stats{"a&b": s} }
		page := get(t, p, "/?name=a%26b").Body.String()
		if use, next := shown(page, "in-use"), shown(page, "next"); use != c.use || next != c.next {
			t.Errorf("%s: in use %q, next %q", name, use, next)
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

// Segments and clients stand in tables beside that of the generators. A single one has
// the page.
func TestTables(t *testing.T) {
	p := at(t, several())
	p.more = counters
	page := get(t, p, "/").Body.String()
	for _, want := range []string{`>Generator</th>`, `>Segment</th>`, `>Client</th>`, `href="?name=invoices"`, `href="?name=orders"`, `href="?name=remote"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Count(page, "<table>") != 3 || strings.Count(page, "<tr ") != len(several())+len(counters()) {
		t.Errorf("%s", page)
	}

	one, err := New(nil, Config{More: func() map[string]uid.Stats { return map[string]uid.Stats{"orders": counters()["parcels"]} }})
	if err != nil {
		t.Fatal(err)
	}
	if page := get(t, one, "/").Body.String(); !strings.Contains(page, `<h2 id="name">orders</h2>`) || strings.Contains(page, "All generators") {
		t.Errorf("the only segment: %s", page)
	}
	none, err := New(nil, Config{More: func() map[string]uid.Stats { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if w := get(t, none, "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "0 in all.") {
		t.Errorf("no segment: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{"/?name=nosuch", "/stats.json?name=nosuch"} {
		if w := get(t, p, target); w.Code != 404 || !strings.Contains(w.Body.String(), "nosuch") || !strings.Contains(w.Body.String(), "invoices") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if body := get(t, p, "/stats.json?name=unavailable").Body.String(); strings.Count(body, `"tag"`) != 1 {
		t.Error(body)
	}
}

// rows returns the names of the rows of a page.
func rows(page string) (names []string) {
	for _, row := range regexp.MustCompile(`<tr data-generator="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		names = append(names, row[1])
	}
	return names
}

// Of thousands of segments the page has those in trouble and the busiest. It says how many
// there are, and a search finds the others. The page stays small if all fail.
func TestMany(t *testing.T) {
	all := map[string]uid.Stats{}
	for i := range 3000 {
		s := counters()["invoices"]
		s.Issued = int64(i)
		all[fmt.Sprintf("Tenant-%04d", i)] = s
	}
	all["Tenant-0700"], all["Tenant-0600"], all["Tenant-0500"] = counters()["used"], counters()["unavailable"], counters()["closed"]
	p := at(t, map[string]Generator{"orders": calm(), "lost": lost()})
	p.more = func() map[string]uid.Stats { return all }

	page := get(t, p, "/").Body.String()
	got := rows(page)
	if len(got) != 2+100 || !slices.Equal(got[:6], []string{"lost", "orders", "Tenant-0500", "Tenant-0600", "Tenant-0700", "Tenant-2903"}) || got[101] != "Tenant-2999" {
		t.Errorf("%d rows: %q", len(got), got)
	}
	if want := "3,002 in all. Makes no ids: 3. Needs attention: 1. A table has the first 100:"; !strings.Contains(page, want) {
		t.Errorf("no %q in %s", want, page)
	}
	for search, want := range map[string][]string{
		"ant-000":     {"Tenant-0000", "Tenant-0001", "Tenant-0002", "Tenant-0003", "Tenant-0004", "Tenant-0005", "Tenant-0006", "Tenant-0007", "Tenant-0008", "Tenant-0009"},
		"tenant-1234": {"Tenant-1234"},
		"ORD":         {"orders"},
		`"><b>`:       nil,
	} {
		query := "?q=" + url.QueryEscape(search)
		page := get(t, p, "/"+query).Body.String()
		found := fmt.Sprintf("%d of 3,002 found.", len(want))
		if got := rows(page); !slices.Equal(got, want) || !strings.Contains(page, found) || !strings.Contains(page, `value="`+html.EscapeString(search)+`"`) {
			t.Errorf("%s: %q, want %q in %s", search, got, want, page)
		}
		if document := get(t, p, "/stats.json"+query).Body.String(); strings.Count(document, `"state"`) != len(want) {
			t.Errorf("%s: %s", search, document)
		}
	}
	if got := len(rows(get(t, p, "/").Body.String())); got != 102 {
		t.Errorf("%d rows after the searches", got)
	}

	for name := range all {
		all[name] = counters()["unavailable"]
	}
	for _, path := range []string{"/", "/stats.json"} {
		if body := get(t, p, path).Body; body.Len() > 200_000 {
			t.Errorf("%s has %d bytes, want 200,000 at most", path, body.Len())
		}
	}
}

// stats.json has what the page shows first, by name, and as many as a reader asks for.
func TestStatsLimit(t *testing.T) {
	all := map[string]uid.Stats{}
	for i := range 300 {
		s := counters()["invoices"]
		s.Issued = int64(i)
		all[fmt.Sprintf("t%03d", i)] = s
	}
	all["t007"] = counters()["unavailable"]
	p := at(t, nil)
	p.more = func() map[string]uid.Stats { return all }
	for _, tt := range []struct {
		query, first, last string
		n, found           int
	}{
		{"", "t007", "t299", 100, 300},
		{"?limit=2", "t007", "t299", 2, 300},
		{"?limit=1000", "t000", "t299", 300, 300},
		{"?limit=5&q=t1", "t195", "t199", 5, 100},
	} {
		var got document
		if err := json.Unmarshal(get(t, p, "/stats.json"+tt.query).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if n := len(got.Generators); n != tt.n || got.Found != tt.found || got.Generators[0].Name != tt.first || got.Generators[n-1].Name != tt.last {
			t.Errorf("%q: %d of %d, want %+v", tt.query, n, got.Found, tt)
		}
	}
	for _, wrong := range []string{"0", "-1", "", "x"} {
		if w := get(t, p, "/stats.json?limit="+wrong); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "limit is") {
			t.Errorf("limit=%s: %d %s", wrong, w.Code, w.Body)
		}
	}
	if text := p.String(); strings.Count(text, `"tag"`) != 300 {
		t.Errorf("String has %d segments", strings.Count(text, `"tag"`))
	}
}
