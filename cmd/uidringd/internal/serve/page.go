package serve

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/figures"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pagePolicy allows the page's own style and script, and nothing else.
var pagePolicy = "default-src 'none'; style-src " + hashed("style") + "; script-src " + hashed("script") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// hashed returns an element of the page as a Content-Security-Policy allows it.
func hashed(element string) string {
	_, text, _ := strings.Cut(pageText, "<"+element+">")
	text, _, _ = strings.Cut(text, "</"+element+">")
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// hostPattern matches hosts that need no quotes in a shell.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9_.:\[\]-]+$`)

// listed is a generator of the config on the page.
type listed struct {
	Name, About string
	Path        string   // how requests name it, without a character that an address or a shell reads
	Most        string   // ids of a request
	Fault       string   // why it is not ready; "" if it is
	Status      string   // link to its status
	Lines       []string // of curl and redis-cli
	clocked     bool
}

func (s *server) listed() []listed {
	unready := s.look()
	all := make([]listed, len(s.config.Generators))
	for i, base := range s.config.Generators {
		g := listed{Name: base.Name, Path: base.Name, Most: figures.Grouped(int64(cmp.Or(base.IDs, s.config.Limits.IDs))), About: "Ids of a counter."}
		find := url.Values{"name": {g.Name}}
		if base.Clocked() {
			how := base.Kind
			if open, err := s.set.Get(base.Name); err == nil { // the config may leave the layout to the store
				how += ", " + open.Layout.String()
			}
			g.clocked, g.About = true, "Unique ids that carry their time ("+how+")."
		}
		if base.Kind == "tags" {
			g.Path, g.About = "TAG", "Ids of every counter whose tag matches "+base.Match+"."
			find = url.Values{"q": {base.Match[:strings.IndexAny(base.Match+"*", `*?[\`)]}}
		}
		if err := unready[base.Name]; err != nil {
			g.Fault = service.Reason(err)
		}
		g.Status = "status/?" + find.Encode()
		all[i] = g
	}
	return all
}

// page lists the generators, those with a clock first, with lines that work in a shell.
func (s *server) page(w http.ResponseWriter, r *http.Request) {
	at := "http://"
	if r.TLS != nil {
		at = "https://"
	}
	if hostPattern.MatchString(r.Host) {
		at += r.Host
	} else {
		at += s.address
	}
	curl := "curl "
	if len(s.config.Tokens) > 0 {
		curl = `curl -H "Authorization: Bearer $TOKEN" `
	}
	var clocked, counters []listed
	for _, g := range s.listed() {
		ids := at + "/v1/" + g.Path
		g.Lines = []string{curl + "'" + ids + "'", curl + "'" + ids + "?n=5'", curl + "'" + ids + "?n=5&format=json'", curl + "-X POST '" + ids + "/runs?n=1000'"}
		if s.redisAt != nil {
			host, _, _ := net.SplitHostPort(r.Host)
			g.Lines = append(g.Lines, redisCLI(s.config, s.redisAt, host)+" INCR "+g.Path)
		}
		if g.clocked {
			clocked = append(clocked, g)
		} else {
			counters = append(counters, g)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	_ = pageTemplate.Execute(w, struct{ Generators []listed }{slices.Concat(clocked, counters)}) // a client that has gone reads no error
}
