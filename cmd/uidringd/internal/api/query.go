package api

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// prefersJSON reports whether an Accept header ranks JSON above text, or names JSON and ranks both
// alike.
func prefersJSON(accept string) bool {
	if !strings.Contains(accept, "application/") {
		return false
	}
	ranges := map[string]float64{}
	for text := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			q = 1
		}
		ranges[kind] = q
	}
	of := func(kinds ...string) (q float64) {
		for _, kind := range kinds {
			if q, named := ranges[kind]; named {
				return q
			}
		}
		return 0
	}
	json, text := of("application/json", "application/*", "*/*"), of("text/plain", "text/*", "*/*")
	_, named := ranges["application/json"]
	return json > text || named && json > 0 && json == text
}

type query struct {
	n    int  // 1 without n=
	json bool // format=json, or an Accept header that prefers JSON
}

func readQuery(r *http.Request) (query, error) {
	q := query{n: 1, json: prefersJSON(strings.Join(r.Header["Accept"], ","))}
	if r.URL.RawQuery == "" {
		return q, nil
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, service.Invalid("the query is not well-formed: %v", err)
	}
	for name, all := range values {
		// The value of an unknown parameter may be a secret.
		if name != "n" && name != "format" {
			return q, service.Invalid("there is no parameter %q, want n or format", name)
		}
		if len(all) > 1 {
			return q, service.Invalid("parameter %s is given %d times, want it once", name, len(all))
		}
	}
	if values.Has("n") {
		n, err := strconv.ParseUint(values.Get("n"), 10, 31)
		if err != nil {
			return q, service.Invalid("n is %q, want a whole number from 1 to the generator's limit", values.Get("n"))
		}
		q.n = int(n)
	}
	switch format := values.Get("format"); {
	case !values.Has("format"):
	case format == "json":
		q.json = true
	case format == "text":
		q.json = false
	default:
		return q, service.Invalid("format is %q, want text or json", format)
	}
	return q, nil
}
