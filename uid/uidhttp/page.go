package uidhttp

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"time"
)

//go:embed static
var static embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{"row": newRowView}).ParseFS(static, "static/page.html"))

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
		panic(err) // it is embedded, or the package does not build
	}
	sum := sha256.Sum256(text)
	return file{kind, `"` + hex.EncodeToString(sum[:8]) + `"`, string(text)}
}

// asset answers a request for a file, if there is one. A browser asks each time
// whether the one that it has is still good, so that none outlives a deployment.
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

// pageView is what the page is made from.
type pageView struct {
	Time       string
	Generators []view
}

// rowView is a row with its figure, for the template.
type rowView struct {
	row
	Value string
}

func newRowView(v view, r row) rowView { return rowView{r, v.Texts[r.Key]} }

func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name := query.Get("name")
	if !query.Has("name") && len(h.names) == 1 {
		name = h.names[0]
	} else if query.Has("name") && h.generators[name] == nil {
		write(w, http.StatusNotFound, plain, []byte(h.unknown(name).Error+"\n"))
		return
	}
	now := h.now()
	p := pageView{Time: now.UTC().Format("15:04:05") + " UTC"}
	for _, n := range h.names {
		v := newView(n, h.generators[n], now)
		if query.Has("id") && n == name && (query.Has("name") || len(h.names) == 1) {
			v.take(h.generators[n], query.Get("id"), now)
		}
		p.Generators = append(p.Generators, v)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil { // a fault of the template, which the tests execute in full
		write(w, http.StatusInternalServerError, plain, []byte("uidhttp: "+err.Error()+"\n"))
		return
	}
	write(w, http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// liveDocument is what live.json has.
type liveDocument struct {
	Time       string `json:"time"`
	Millis     int64  `json:"millis"` // the same, to reckon with
	Generators []live `json:"generators"`
}

func (h *handler) live() liveDocument {
	now := h.now()
	d := liveDocument{Time: now.UTC().Format("15:04:05") + " UTC", Millis: now.UnixMilli(), Generators: []live{}}
	for _, name := range h.names {
		g := h.generators[name]
		d.Generators = append(d.Generators, newLive(name, g.Layout(), g.Stats(), now))
	}
	return d
}
