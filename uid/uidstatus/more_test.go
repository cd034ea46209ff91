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

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// The only segment has the page, and without any the page says so.
func TestFewTables(t *testing.T) {
	one := at(t, nil, map[string]uid.Stats{"orders": counters()["parcels"]})
	if page := get(t, one, "/").Body.String(); !strings.Contains(page, `<h2 id="name">orders</h2>`) || strings.Contains(page, "All generators") {
		t.Errorf("the only segment: %s", page)
	}
	none := at(t, nil, nil)
	if w := get(t, none, "/"); w.Code != 200 || !strings.Contains(w.Body.String(), "0 in all.") {
		t.Errorf("no segment: %d %s", w.Code, w.Body)
	}
}

// tenants are n segments, of which each has issued more ids than the one before.
func tenants(n int) map[string]uid.Stats {
	all := map[string]uid.Stats{}
	for i := range n {
		s := counters()["invoices"]
		s.Issued = int64(i)
		all[fmt.Sprintf("Tenant-%04d", i)] = s
	}
	return all
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
	all := tenants(3000)
	all["Tenant-0700"], all["Tenant-0600"], all["Tenant-0500"] = counters()["used"], counters()["unavailable"], counters()["closed"]
	p := at(t, map[string]uid.Reporter{"orders": calm(), "lost": lost()}, all)

	page := get(t, p, "/").Body.String()
	got := rows(page)
	if len(got) != 100 || !slices.Equal(got[:5], []string{"Tenant-0500", "Tenant-0600", "lost", "Tenant-0700", "Tenant-2904"}) || got[99] != "Tenant-2999" {
		t.Errorf("%d rows: %q", len(got), got)
	}
	if want := "3,002 in all. Not generating ids: 3. Needs attention: 1. The table has 100:"; !strings.Contains(page, want) {
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
	if got := len(rows(get(t, p, "/").Body.String())); got != 100 {
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

// stats.json has what the page shows, and as many as a reader asks for.
func TestStatsLimit(t *testing.T) {
	all := tenants(300)
	all["Tenant-0007"] = counters()["unavailable"]
	p := at(t, nil, all)
	for _, tt := range []struct {
		query, first, last string
		n, found           int
	}{
		{"", "Tenant-0007", "Tenant-0299", 100, 300},
		{"?limit=2", "Tenant-0007", "Tenant-0299", 2, 300},
		{"?limit=1000", "Tenant-0007", "Tenant-0299", 300, 300},
		{"?limit=5&q=t-01", "Tenant-0195", "Tenant-0199", 5, 100},
	} {
		var got document
		need.Must(t, json.Unmarshal(get(t, p, "/stats.json"+tt.query).Body.Bytes(), &got))
		if n := len(got.Generators); n != tt.n || got.Found != tt.found || got.Generators[0].Name != tt.first || got.Generators[n-1].Name != tt.last {
			t.Errorf("%q: %d of %d, want %+v", tt.query, n, got.Found, tt)
		}
	}
	for _, wrong := range []string{"0", "-1", "", "x"} {
		if w := get(t, p, "/stats.json?limit="+wrong); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "limit is") {
			t.Errorf("limit=%s: %d %s", wrong, w.Code, w.Body)
		}
	}
	if text := p.String(); strings.Count(text, `"load_tag"`) != 300 {
		t.Errorf("String has %d segments", strings.Count(text, `"load_tag"`))
	}
}
