package uidstatus

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/internal/hosts"
	"github.com/uidring/uidring/uid"
)

// Page is an [http.Handler] for the status page and stats.json. Make one with [New]. It is safe
// for concurrent use.
//
// Mount a Page at a path that ends with a slash. On an [http.ServeMux], a pattern such as
// "/debug/uid/" is enough. With other routers, strip the path prefix, as [http.StripPrefix] does.
// All links are relative.
type Page struct {
	generators map[string]uid.Reporter
	hosts      hosts.Set
	process    process
	now        func() time.Time
	more       func() map[string]uid.Stats // nil for none
	home       string
}

// String returns the stats.json document with all generators, so that a Page is an [expvar.Var].
func (p *Page) String() string {
	body, _ := json.Marshal(p.document(p.all(), math.MaxInt)) // no value in it can fail to encode
	return string(body)
}

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
	if !p.hosts.Allows(r.Host) {
		refuse(w, http.StatusForbidden, "the host of the request is %q, want localhost, an IP address or an entry of Config.Hosts", r.Host)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "the method is %q, want GET or HEAD", r.Method)
		return
	}
	// Relative links would be wrong without the slash at the end of the page's path. Routers
	// strip the path, but not RequestURI. A name after "./" is never a scheme or a host.
	if sent, _, _ := strings.Cut(r.RequestURI, "?"); r.URL.Path == "" && !strings.HasSuffix(sent, "/") {
		header.Set("Location", "./"+path.Base(sent)+"/")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	switch name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; name {
	case "":
		p.page(w, r)
	case "stats.json":
		p.stats(w, r)
	case "page.css", "page.js", "icon.svg":
		http.ServeFileFS(w, r, static, "static/"+name)
	default:
		refuse(w, http.StatusNotFound, "there is no page %q", r.URL.Path)
	}
}

func (p *Page) stats(w http.ResponseWriter, r *http.Request) {
	query, most := r.URL.Query(), mostRows
	if query.Has("limit") {
		var err error
		if most, err = strconv.Atoi(query.Get("limit")); err != nil || most < 1 {
			refuse(w, http.StatusBadRequest, "limit is %q, want 1 or more", query.Get("limit"))
			return
		}
	}
	all := p.all()
	if !choose(all, query) {
		refuse(w, http.StatusNotFound, "no generator has the name %q", query.Get("name"))
		return
	}
	body, _ := json.Marshal(p.document(all, most))
	write(w, "application/json", append(body, '\n'))
}

// refuse answers why a request is wrong. arg is from the request.
func refuse(w http.ResponseWriter, status int, format, arg string) {
	http.Error(w, fmt.Sprintf("uidstatus: "+format, short(arg)), status)
}

// write sends a whole answer. The handler ignores a client that has gone away.
func write(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
