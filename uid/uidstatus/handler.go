package uidstatus

import (
	"encoding/json"
	"errors"
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
)

// Generator is a generator to show. Every generator of uidring implements it, but for
// segment.Striped and segment.Tags, which are many: see [Config.More]. Stats must be safe
// for concurrent use.
type Generator interface {
	Stats() uid.Stats
}

// Page is the status page and its JSON documents, as an [http.Handler]. [New]
// makes one. It is safe for concurrent use.
//
// Mount a Page at a path that ends with a slash. On an [http.ServeMux], a pattern such
// as "/debug/uid/" is enough. With other routers, remove the path before the page, as
// [http.StripPrefix] does. All links are relative.
type Page struct {
	generators map[string]Generator
	hosts      map[string]bool // allowed names, lower case
	process    process
	now        func() time.Time
	more       func() map[string]uid.Stats // nil for none
	home       string
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
		answerJSON(w, r, p.stats)
	case "decode.json":
		answerJSON(w, r, p.decode)
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

// all returns the statistics of all generators.
func (p *Page) all() map[string]uid.Stats {
	all := make(map[string]uid.Stats, len(p.generators))
	if p.more != nil {
		maps.Copy(all, p.more())
	}
	for name, g := range p.generators {
		all[name] = g.Stats()
	}
	return all
}

// choose keeps the generator that a query names, or else all whose names contain its
// search. It returns a problem for an unknown name.
func choose(all map[string]uid.Stats, query url.Values) *problem {
	if !query.Has("name") {
		search := strings.ToLower(query.Get("q"))
		maps.DeleteFunc(all, func(name string, _ uid.Stats) bool { return !strings.Contains(strings.ToLower(name), search) })
		return nil
	}
	name := query.Get("name")
	if _, ok := all[name]; !ok {
		names, want := some(all), "one of"
		if len(names) < len(all) {
			want = "one such as"
		}
		return &problem{http.StatusNotFound, fmt.Sprintf("uidstatus: no generator has the name %q, want %s %q", short(name), want, names), names}
	}
	maps.DeleteFunc(all, func(other string, _ uid.Stats) bool { return other != name })
	return nil
}

func (p *Page) stats(query url.Values) (any, *problem) {
	most := mostRows
	if query.Has("limit") {
		var err error
		if most, err = strconv.Atoi(query.Get("limit")); err != nil || most < 1 {
			return nil, wrong(fmt.Errorf("uidstatus: limit is %q, want 1 or more", short(query.Get("limit"))))
		}
	}
	all := p.all()
	if unknown := choose(all, query); unknown != nil {
		return nil, unknown
	}
	d := p.document(all)
	d.Generators = first(d.Generators, most)
	return d, nil
}

func (p *Page) decode(query url.Values) (any, *problem) {
	all := p.all()
	if !query.Has("name") {
		maps.DeleteFunc(all, func(_ string, s uid.Stats) bool { return s.Clock == nil })
	} else if unknown := choose(all, query); unknown != nil {
		return nil, unknown
	}
	if len(all) != 1 {
		return nil, &problem{http.StatusBadRequest, "uidstatus: name is missing, want the name of the generator whose layout the id has", some(all)}
	}
	var d decoded
	for name, s := range all {
		parts, id, err := parse(s, query.Get("id"))
		if err != nil {
			return nil, wrong(err)
		}
		d = decoded{Name: name, ID: id, Time: instant(parts.Time), Tick: parts.Tick, Worker: parts.Worker, Sequence: parts.Sequence}
	}
	return d, nil
}

// parse reads an id that a reader of the page typed.
func parse(s uid.Stats, text string) (bits.Parts, uid.ID, error) {
	id, err := uid.ParseID(strings.TrimSpace(text))
	if err != nil {
		return bits.Parts{}, 0, err
	}
	if s.Clock == nil {
		return bits.Parts{}, 0, errors.New("uidstatus: the ids of this generator have no parts")
	}
	allocator, err := bits.NewAllocator(s.Clock.Layout)
	if err != nil {
		return bits.Parts{}, 0, err
	}
	parts, err := allocator.Parse(int64(id))
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
	status int
	Error  string   `json:"error"`
	Names  []string `json:"names,omitempty"`
}

func wrong(err error) *problem { return &problem{status: http.StatusBadRequest, Error: err.Error()} }

// some returns the first names.
func some(all map[string]uid.Stats) []string {
	names := slices.Sorted(maps.Keys(all))
	return names[:min(len(names), 20)]
}

const plain = "text/plain; charset=utf-8"

// encode returns v as a line of JSON. No value in this package can fail to encode.
func encode(v any) []byte {
	body, _ := json.Marshal(v)
	return append(body, '\n')
}

// answerJSON sends the document that a request asks for, or what is wrong with the request.
func answerJSON(w http.ResponseWriter, r *http.Request, of func(url.Values) (any, *problem)) {
	status := http.StatusOK
	v, fault := of(r.URL.Query())
	if fault != nil {
		v, status = fault, fault.status
	}
	write(w, status, "application/json", encode(v))
}

// write sends a whole answer. A client that has gone is no fault of the handler.
func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
