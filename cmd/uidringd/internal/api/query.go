package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

type query struct {
	n    int  // 1 without n=
	json bool // format=json, or an Accept header that names application/json
}

func readQuery(r *http.Request) (query, error) {
	q := query{n: 1, json: strings.Contains(r.Header.Get("Accept"), "application/json")}
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
