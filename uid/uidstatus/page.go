package uidstatus

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
	Card    *card
	Tables  []table
}

// table is all things of a kind.
type table struct {
	Title string
	Rows  []summary
}

func (p *Page) page(w http.ResponseWriter, r *http.Request) {
	query, now := r.URL.Query(), p.now()
	view := pageView{
		Time:    now.UTC().Format("15:04:05") + " UTC",
		Millis:  now.UnixMilli(),
		Process: p.process.describe(now),
	}
	s := p.all()
	alone := len(s.names)+len(s.tags) == 1
	if wrong := s.choose(query); wrong != nil {
		write(w, http.StatusNotFound, plain, []byte(wrong.Error+"\n"))
		return
	}
	switch {
	case len(s.names)+len(s.tags) != 1:
		view.Tables = p.tables(s, now)
	case len(s.tags) == 1:
		view.Card = newSegmentCard(s.tags[0], s.segments[s.tags[0]], alone)
	default:
		view.Card = newCard(s.names[0], p.generators[s.names[0]], alone, now)
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

func (p *Page) tables(s selection, now time.Time) []table {
	generators, segments := table{Title: "Generator"}, table{Title: "Segment"}
	for _, name := range s.names {
		row, _, _ := newSummary(name, p.generators[name], now)
		generators.Rows = append(generators.Rows, row)
	}
	for _, tag := range s.tags {
		segments.Rows = append(segments.Rows, newSegmentSummary(tag, s.segments[tag]))
	}
	return slices.DeleteFunc([]table{generators, segments}, func(t table) bool { return len(t.Rows) == 0 })
}
