package uidhttp

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
)

// Generator is what the page shows. [*uid.Cached] and [*uid.Default] are such.
// All methods may be called from several goroutines at once.
type Generator interface {
	Stats() uid.Stats
	Layout() bits.Layout
	Parse(id uid.ID) (bits.Parts, error)
}

// Handler returns the status page of the generators, under the names that they
// have in the map. A name is any text; a nil generator is left out. The map is
// copied, and the generators remain the caller's: one that is closed is shown as
// it was left. The handler may serve any number of requests at once.
//
// Mount it at a path that ends with a slash. With the pattern of an
// [http.ServeMux] that ends so, as "/debug/uid/", that is all. For other routers
// take away what leads to it, as [http.StripPrefix] does. All links are
// relative.
func Handler(generators map[string]Generator) http.Handler {
	h := &handler{generators: maps.Clone(generators), now: time.Now}
	maps.DeleteFunc(h.generators, func(_ string, g Generator) bool { return g == nil })
	h.names = slices.Sorted(maps.Keys(h.generators))
	return h
}

// handler does not change.
type handler struct {
	generators map[string]Generator
	names      []string // of generators, sorted
	now        func() time.Time
}

// policy has the page load what comes from where it came from, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		write(w, http.StatusMethodNotAllowed, plain, []byte("uidhttp: method not allowed, want GET or HEAD\n"))
		return
	}
	if to := slash(r); to != "" {
		header.Set("Location", to)
		write(w, http.StatusTemporaryRedirect, plain, nil)
		return
	}
	switch path := below(r); path {
	case "":
		h.page(w, r)
	case "stats.json":
		h.stats(w, r)
	case "live.json":
		writeJSON(w, http.StatusOK, h.live())
	case "decode.json":
		h.decode(w, r)
	default:
		if !asset(w, r, path) {
			write(w, http.StatusNotFound, plain, []byte("uidhttp: no such page\n"))
		}
	}
}

// below returns what of the path comes after the place where the handler is
// mounted.
func below(r *http.Request) string {
	path := r.URL.Path
	if i := strings.IndexByte(r.Pattern, '/'); i >= 0 { // after method and host
		path = strings.TrimPrefix(path, r.Pattern[i:])
	}
	return strings.TrimPrefix(path, "/")
}

// slash returns where to send a browser that asked for the page without the
// slash at its end, with which relative links would lead past it. Only the
// request as it was sent tells, since the path has been stripped.
func slash(r *http.Request) string {
	if r.URL.Path != "" {
		return ""
	}
	sent, query, _ := strings.Cut(r.RequestURI, "?")
	last := sent[strings.LastIndexByte(sent, '/')+1:]
	if last == "" {
		return ""
	}
	to := "./" + last + "/" // never taken for a scheme or a host
	if query != "" {
		to += "?" + query
	}
	return to
}

func (h *handler) stats(w http.ResponseWriter, r *http.Request) {
	names := h.names
	if query := r.URL.Query(); query.Has("name") {
		name := query.Get("name")
		if h.generators[name] == nil {
			writeJSON(w, http.StatusNotFound, h.unknown(name))
			return
		}
		names = []string{name}
	}
	now := h.now()
	d := document{Time: *instant(now), Generators: []generator{}}
	for _, name := range names {
		g := h.generators[name]
		d.Generators = append(d.Generators, describe(name, g.Layout(), g.Stats(), now))
	}
	writeJSON(w, http.StatusOK, d)
}

func (h *handler) decode(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name := query.Get("name")
	if !query.Has("name") && len(h.names) == 1 {
		name = h.names[0]
	}
	g := h.generators[name]
	switch {
	case g == nil && !query.Has("name") && len(h.names) > 0:
		writeJSON(w, http.StatusBadRequest, problem{
			Error: "uidhttp: name is missing, want that of the generator by whose layout to read the id", Names: h.names})
		return
	case g == nil:
		writeJSON(w, http.StatusNotFound, h.unknown(name))
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

// parse reads an id from what somebody has typed or pasted.
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

// problem is what a JSON document has instead when something is wrong.
type problem struct {
	Error string   `json:"error"`
	Names []string `json:"names,omitempty"`
}

func (h *handler) unknown(name string) problem {
	return problem{
		Error: fmt.Sprintf("uidhttp: no generator has the name %s, want one of %q", strconv.Quote(short(name)), h.names),
		Names: h.names,
	}
}

// anchor returns where on the page a generator is, as an id of HTML, which has
// no spaces. A slash sets others apart: those within the generator, and that of
// the one without a name.
func anchor(name string) string {
	if name == "" {
		return "/unnamed"
	}
	return url.PathEscape(name)
}

const plain = "text/plain; charset=utf-8"

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // no value that is passed here has anything that could not be written
		write(w, http.StatusInternalServerError, plain, []byte("uidhttp: "+err.Error()+"\n"))
		return
	}
	write(w, status, "application/json", append(body, '\n'))
}

// write ends the request. That nobody takes the answer any more is no fault of
// the handler's.
func write(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
