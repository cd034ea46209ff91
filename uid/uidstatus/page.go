package uidstatus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"
)

//go:embed static
var static embed.FS

var page = template.Must(template.ParseFS(static, "static/page.html"))

// file is an asset. It does not change.
type file struct{ kind, tag, text string }

var files = map[string]file{
	"page.css": open("static/page.css", "text/css; charset=utf-8"),
	"page.js":  open("static/page.js", "text/javascript; charset=utf-8"),
	"icon.svg": open("static/icon.svg", "image/svg+xml"),
}

func open(path, kind string) file {
	text, err := static.ReadFile(path)
	if err != nil {
		panic(err) // only if the embedded file's name is wrong
	}
	sum := sha256.Sum256(text)
	return file{kind, `"` + hex.EncodeToString(sum[:8]) + `"`, string(text)}
}

// asset answers a request for a file, if there is one. Browsers revalidate it
// each time, so that no asset outlives a deployment.
func asset(w http.ResponseWriter, r *http.Request, path string) bool {
	f, ok := files[path]
	if !ok {
		return false
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("ETag", f.tag)
	http.ServeContent(w, r, path, time.Time{}, bytes.NewReader([]byte(f.text)))
	return true
}

// pageView is the page: of one generator or segment, or tables of all.
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

// table is things of a kind.
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
	s := p.all()
	all := len(s.names) + len(s.tags)
	alone := all == 1
	if wrong := s.choose(query); wrong != nil {
		write(w, http.StatusNotFound, plain, []byte(wrong.Error+"\n"))
		return
	}
	switch {
	case len(s.names)+len(s.tags) != 1, !alone && !query.Has("name") && !query.Has("segment"):
		view.Tables, view.Found = p.tables(s, now, all)
	case len(s.tags) == 1:
		view.Card = newSegmentCard(s.tags[0], s.segments[s.tags[0]], alone, p.settings)
	default:
		view.Card = newCard(s.names[0], p.generators[s.names[0]], alone, now, p.settings)
		if query.Has("id") {
			view.Card.Answer = newAnswer(p.generators[s.names[0]], query.Get("id"), now)
		}
	}
	var b bytes.Buffer
	if err := page.Execute(&b, view); err != nil { // a fault of the template, which the tests execute in full
		write(w, http.StatusInternalServerError, plain, []byte("uidstatus: "+err.Error()+"\n"))
		return
	}
	write(w, http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// tables returns the tables of a selection from all, and a sentence about them.
func (p *Page) tables(s selection, now time.Time, all int) ([]table, string) {
	generators, segments := table{Title: "Generator"}, table{Title: "Segment"}
	for _, name := range s.names {
		row, _, _ := newSummary(name, p.generators[name], now)
		generators.Rows = append(generators.Rows, row)
	}
	for _, tag := range s.tags {
		segments.Rows = append(segments.Rows, newSegmentSummary(tag, s.segments[tag]))
	}
	count := map[state]int64{}
	rows := slices.Concat(generators.Rows, segments.Rows)
	for _, row := range rows {
		count[row.State]++
	}
	found := grouped(int64(all)) + " in all."
	if len(rows) < all {
		found = grouped(int64(len(rows))) + " of " + grouped(int64(all)) + " found."
	}
	for _, state := range []state{failing, warning} {
		if n := count[state]; n > 0 {
			found += " " + state.Words() + ": " + grouped(n) + "."
		}
	}
	generators.cut()
	segments.cut()
	if len(generators.Rows)+len(segments.Rows) < len(rows) {
		found += fmt.Sprintf(" A table has the first %d: those in trouble, then those that issued most ids. Search for others.", mostRows)
	}
	return slices.DeleteFunc([]table{generators, segments}, func(t table) bool { return len(t.Rows) == 0 }), found
}

// cut sorts the rows by state, the worst first, and by name. Of too many rows it keeps the
// worst, and then those that issued most.
func (t *table) cut() {
	t.Rows = first(t.Rows, mostRows, func(s summary) (state, int64, string) { return s.State, s.Issued, s.Name })
	slices.SortFunc(t.Rows, func(a, b summary) int {
		return cmp.Or(cmp.Compare(b.State.rank(), a.State.rank()), cmp.Compare(a.Name, b.Name))
	})
}
