package uidstatus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/uidring/uidring/uid"
)

//go:embed static
var static embed.FS

var page = template.Must(template.ParseFS(static, "static/page.html"))

// kinds are the assets, with their types.
var kinds = map[string]string{
	"page.css": "text/css; charset=utf-8",
	"page.js":  "text/javascript; charset=utf-8",
	"icon.svg": "image/svg+xml",
}

// asset answers a request for an asset, if there is one. Browsers revalidate it
// each time, so that no asset outlives a deployment.
func asset(w http.ResponseWriter, r *http.Request, path string) bool {
	kind, ok := kinds[path]
	if !ok {
		return false
	}
	text, _ := static.ReadFile("static/" + path)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(text)))
	http.ServeContent(w, r, path, time.Time{}, bytes.NewReader(text))
	return true
}

// pageView is the page: of one generator, or tables of all.
type pageView struct {
	Time    string
	Millis  int64
	Process string
	Home    string
	Card    *card
	Search  string
	Found   string // how many there are, and their states
	Tables  []table
}

// table is generators of a kind, the worst first.
type table struct {
	Title string
	Rows  []summary
}

// mostRows bounds the size of the page, and of stats.json without limit: further rows are
// left out.
const mostRows = 100

func (p *Page) page(w http.ResponseWriter, r *http.Request) {
	query, now := r.URL.Query(), p.now()
	view := pageView{
		Time:    now.UTC().Format("15:04:05") + " UTC",
		Millis:  now.UnixMilli(),
		Process: p.process.describe(now),
		Home:    p.home,
		Search:  query.Get("q"),
	}
	all := p.all()
	found := len(all)
	if wrong := choose(all, query); wrong != nil {
		write(w, wrong.status, plain, []byte(wrong.Error+"\n"))
		return
	}
	if len(all) == 1 && (found == 1 || query.Has("name")) {
		for name, s := range all {
			view.Card = newCard(name, s, found == 1, now)
			if query.Has("id") {
				view.Card.Answer = newAnswer(s, query.Get("id"), now)
			}
		}
	} else {
		view.Tables, view.Found = newTables(all, now, found)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, view); err != nil { // a fault of the template, which the tests execute in full
		write(w, http.StatusInternalServerError, plain, []byte("uidstatus: "+err.Error()+"\n"))
		return
	}
	write(w, http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// newTables returns the tables of a selection from found generators, and a sentence about
// them.
func newTables(all map[string]uid.Stats, now time.Time, found int) ([]table, string) {
	tables := []table{{Title: "Generator"}, {Title: "Segment"}, {Title: "Client"}}
	count := map[state]int64{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row := newSummary(name, all[name], now)
		table := &tables[kindOf(all[name])]
		table.Rows = append(table.Rows, row)
		count[row.State]++
	}
	text := grouped(int64(found)) + " in all."
	if len(all) < found {
		text = grouped(int64(len(all))) + " of " + grouped(int64(found)) + " found."
	}
	for _, state := range []state{failing, warning} {
		if n := count[state]; n > 0 {
			text += " " + state.Words() + ": " + grouped(n) + "."
		}
	}
	shown := 0
	for i := range tables {
		rows := first(tables[i].Rows, mostRows)
		slices.SortFunc(rows, func(a, b summary) int {
			return cmp.Or(cmp.Compare(b.State.rank(), a.State.rank()), cmp.Compare(a.Name, b.Name))
		})
		tables[i].Rows = rows
		shown += len(rows)
	}
	if shown < len(all) {
		text += fmt.Sprintf(" A table has the first %d: those in trouble, then those that issued most ids. Search for others.", mostRows)
	}
	return slices.DeleteFunc(tables, func(t table) bool { return len(t.Rows) == 0 }), text
}

// kindOf returns the table in which a generator stands.
func kindOf(s uid.Stats) int {
	switch {
	case s.Loads == nil:
		return 0
	case s.Loads.Instance == "":
		return 1
	}
	return 2
}
