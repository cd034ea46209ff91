package serve

import (
	"bytes"
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

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
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
	Name, Kind string
	Match      string // the pattern of tags; "" for all other kinds
	Layout     string // "" for counters
	Most       string // ids of a request
	Fault      string // why it is not ready; "" if it is
	About      string
	Status     string   // link to its status
	Lines      []string // of curl and redis-cli
}

// listed returns the generators of the config.
func (s *server) listed() []listed {
	unready := s.look()
	all := make([]listed, len(s.config.Generators))
	for i, entry := range s.config.Generators {
		base := entry.Common()
		all[i] = listed{Name: base.Name, Kind: base.Kind, Most: figures.Grouped(int64(cmp.Or(base.IDs, s.config.Limits.IDs)))}
		if tags, many := entry.Generator.(*config.Tags); many {
			all[i].Match = tags.Match
		}
		if clock := entry.Clock(); clock != nil {
			all[i].Layout = clock.Layout.String()
		}
		if err := unready[base.Name]; err != nil {
			all[i].Fault = service.Reason(err)
		}
	}
	return all
}

// page lists the generators, those with a clock first, with lines that work in a shell.
func (s *server) page(c *config.Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		if len(c.Tokens) > 0 {
			curl = `curl -H "Authorization: Bearer $TOKEN" `
		}
		var clocked, counters []listed
		for _, g := range s.listed() {
			g.About, g.Status = "Ids of a counter.", "status/?"+url.Values{"name": {g.Name}}.Encode()
			path := g.path()
			ids := at + "/v1/" + path
			g.Lines = []string{curl + "'" + ids + "'", curl + "'" + ids + "?n=5'", curl + "'" + ids + "?n=5&format=json'", curl + "-X POST '" + ids + "/runs?n=1000'"}
			if s.redisAt != nil {
				host, _, _ := net.SplitHostPort(r.Host)
				g.Lines = append(g.Lines, redisCLI(c, s.redisAt, host)+" INCR "+path)
			}
			if g.Layout != "" {
				g.About = "Unique ids that carry their time (" + g.Kind + ", " + g.Layout + ")."
				clocked = append(clocked, g)
				continue
			}
			if g.Match != "" {
				g.About = "Ids of every counter whose tag matches " + g.Match + "."
				g.Status = "status/?" + url.Values{"q": {g.Match[:strings.IndexAny(g.Match+"*", `*?[\`)]}}.Encode()
			}
			counters = append(counters, g)
		}
		var page bytes.Buffer
		if err := pageTemplate.Execute(&page, struct{ Generators []listed }{slices.Concat(clocked, counters)}); err != nil {
			s.logger.Error("page", "error", err)
			answer(w, http.StatusInternalServerError, "the page cannot be made; see the log\n")
			return
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", pagePolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page.Bytes()) // a client that has gone reads no error
	})
}

// path returns how requests name a generator. The name has no character that an address or
// a shell reads.
func (g listed) path() string {
	if g.Match != "" {
		return "TAG"
	}
	return g.Name
}
