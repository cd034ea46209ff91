package uidstatus

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// Generator is a generator to show. [*uid.Cached], [*uid.Default] and [*uid.Slots]
// implement it. All methods must be safe for concurrent use.
type Generator interface {
	Stats() uid.Stats
	Layout() bits.Layout
	Parse(id uid.ID) (bits.Parts, error)
}

// Page is the status page and its JSON documents, as an [http.Handler]. [New]
// makes one. It is safe for concurrent use.
//
// Mount a Page at a path that ends with a slash. On an [http.ServeMux], a pattern such
// as "/debug/uid/" is enough. With other routers, remove the path before the page, as
// [http.StripPrefix] does. All links are relative.
type Page struct {
	generators map[string]Generator
	names      []string        // of generators, sorted
	hosts      map[string]bool // allowed names, lower case
	process    process
	now        func() time.Time
	counters   func() map[string]segment.Stats // nil for none
	home       string
	settings   settings
}

// String returns the document stats.json, so that a Page is an [expvar.Var].
func (p *Page) String() string { return string(encode(p.document(p.all()))) }

// policy allows what this handler serves, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if !p.allows(r.Host) {
		write(w, http.StatusForbidden, plain, fmt.Appendf(nil,
			"uidstatus: the host of the request is %q, want localhost, an IP address or an entry of Config.Hosts\n", short(r.Host)))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		write(w, http.StatusMethodNotAllowed, plain, []byte("uidstatus: method not allowed, want GET or HEAD\n"))
		return
	}
	if to := slash(r); to != "" {
		header.Set("Location", to)
		write(w, http.StatusTemporaryRedirect, plain, nil)
		return
	}
	switch path := below(r); path {
	case "":
		p.page(w, r)
	case "stats.json":
		p.stats(w, r)
	case "decode.json":
		p.decode(w, r)
	default:
		if !asset(w, r, path) {
			write(w, http.StatusNotFound, plain, []byte("uidstatus: no such page\n"))
		}
	}
}

// below returns the part of the path after the page's own path.
func below(r *http.Request) string {
	path := r.URL.Path
	if i := strings.IndexByte(r.Pattern, '/'); i >= 0 { // behind method and host
		path = strings.TrimPrefix(path, r.Pattern[i:])
	}
	return strings.TrimPrefix(path, "/")
}

// slash returns where to redirect a browser that left out the slash at the end of the
// page's path: relative links would be wrong there. It reads RequestURI, since routers
// strip the path.
func slash(r *http.Request) string {
	if r.URL.Path != "" {
		return ""
	}
	sent, query, _ := strings.Cut(r.RequestURI, "?")
	last := sent[strings.LastIndexByte(sent, '/')+1:]
	if last == "" {
		return ""
	}
	to := "./" + last + "/" // never read as a scheme or a host
	if query != "" {
		to += "?" + query
	}
	return to
}

// selection is what an answer shows: generators, and segments with their state.
type selection struct {
	names, tags []string // sorted
	segments    map[string]segment.Stats
}

// all selects what there is now.
func (p *Page) all() selection {
	s := selection{names: p.names}
	if p.counters != nil {
		s.segments = p.counters()
		s.tags = slices.Sorted(maps.Keys(s.segments))
	}
	return s
}

// choose keeps the generator or the segment that a query names, or else all whose names
// contain its search. It returns a problem for an unknown name.
func (s *selection) choose(query url.Values) *problem {
	kind, of, chosen, other := "generator", "name", &s.names, &s.tags
	if query.Has("segment") {
		kind, of, chosen, other = "segment", "segment", &s.tags, &s.names
	}
	if !query.Has(of) {
		search := strings.ToLower(query.Get("q"))
		other := func(name string) bool { return !strings.Contains(strings.ToLower(name), search) }
		s.names = slices.DeleteFunc(slices.Clone(s.names), other)
		s.tags = slices.DeleteFunc(s.tags, other)
		return nil
	}
	name := query.Get(of)
	if !slices.Contains(*chosen, name) {
		return unknown(kind, name, *chosen)
	}
	*chosen, *other = []string{name}, nil
	return nil
}

func (p *Page) stats(w http.ResponseWriter, r *http.Request) {
	s, query, most := p.all(), r.URL.Query(), mostRows
	if query.Has("limit") {
		var err error
		if most, err = strconv.Atoi(query.Get("limit")); err != nil || most < 1 {
			writeJSON(w, http.StatusBadRequest, problem{Error: fmt.Sprintf("uidstatus: limit is %q, want 1 or more", short(query.Get("limit")))})
			return
		}
	}
	if wrong := s.choose(query); wrong != nil {
		writeJSON(w, http.StatusNotFound, wrong)
		return
	}
	d := p.document(s)
	d.keep(most)
	writeJSON(w, http.StatusOK, d)
}

func (p *Page) decode(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name := query.Get("name")
	if !query.Has("name") && len(p.names) == 1 {
		name = p.names[0]
	}
	g := p.generators[name]
	switch {
	case g == nil && !query.Has("name"):
		writeJSON(w, http.StatusBadRequest, problem{
			Error: "uidstatus: name is missing, want the name of the generator whose layout the id has", Names: p.names})
		return
	case g == nil:
		writeJSON(w, http.StatusNotFound, unknown("generator", name, p.names))
		return
	}
	parts, id, err := parse(g, query.Get("id"))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, problem{Error: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, decoded{
		Name: name, ID: id, Time: instant(parts.Time), Tick: parts.Tick, Worker: parts.Worker, Sequence: parts.Sequence})
}

// parse reads an id that a reader of the page typed.
func parse(g Generator, text string) (bits.Parts, uid.ID, error) {
	id, err := uid.ParseID(strings.TrimSpace(text))
	if err != nil {
		return bits.Parts{}, 0, err
	}
	parts, err := g.Parse(id)
	return parts, id, err
}

// decoded is what decode.json has.
type decoded struct {
	Name     string  `json:"name"`
	ID       uid.ID  `json:"id"`
	Time     *string `json:"time"`
	Tick     int64   `json:"tick"`
	Worker   int64   `json:"worker"`
	Sequence int64   `json:"sequence"`
}

// problem is the JSON document of an error.
type problem struct {
	Error string   `json:"error"`
	Names []string `json:"names,omitempty"`
}

// unknown is the problem of an unknown name. Of many names it lists the first.
func unknown(kind, name string, names []string) *problem {
	want := "one of"
	if len(names) > 20 {
		names, want = names[:20], "one such as"
	}
	return &problem{
		Error: fmt.Sprintf("uidstatus: no %s has the name %q, want %s %q", kind, short(name), want, names),
		Names: names,
	}
}

const plain = "text/plain; charset=utf-8"

// encode returns v as a line of JSON. No value in this package can fail to encode.
func encode(v any) []byte {
	body, _ := json.Marshal(v)
	return append(body, '\n')
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	write(w, status, "application/json", encode(v))
}

// write sends a whole answer. A client that has gone is no fault of the handler.
func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
