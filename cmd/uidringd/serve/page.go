package serve

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/uidring/uidring/cmd/uidringd/catalog"
	"github.com/uidring/uidring/cmd/uidringd/config"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// hostPattern matches hosts that need no quotes in a shell.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9_.:\[\]-]+$`)

// listed is a generator on the page.
type listed struct {
	*catalog.Entry
	Path string // of its ids; a counter's name can be any text, so Path is escaped
}

// page lists the generators, those with a clock first, with lines of curl that work.
func (s *server) page(address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := struct {
			URL        string
			Token      bool
			Generators []listed
			Tags       []string
		}{URL: "http://", Token: len(s.config.Tokens) > 0}
		if r.TLS != nil {
			data.URL = "https://"
		}
		if hostPattern.MatchString(r.Host) {
			data.URL += r.Host
		} else {
			data.URL += address
		}
		for _, entry := range s.set.List() {
			data.Generators = append(data.Generators, listed{entry, "/v1/" + url.PathEscape(entry.Name)})
		}
		slices.SortStableFunc(data.Generators, func(a, b listed) int {
			switch {
			case (a.Layout == nil) == (b.Layout == nil):
				return 0
			case a.Layout != nil:
				return -1
			}
			return 1
		})
		for _, g := range s.config.Generators {
			if tags, ok := g.Generator.(*config.Tags); ok {
				data.Tags = append(data.Tags, tags.Match)
			}
		}
		var page bytes.Buffer
		if err := pageTemplate.Execute(&page, data); err != nil {
			s.logger.Error("page", "error", err)
			answer(w, http.StatusInternalServerError, "the page cannot be made; see the log\n")
			return
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page.Bytes()) // a client that has gone reads no error
	})
}
