package api_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/internal/test/need"
)

// contract is openapi.yaml, and which of its answers were seen.
type contract struct {
	doc    *openapi3.T
	router routers.Router
	seen   map[string]bool // "GET /v1/{name} 200 text/plain"
}

func newContract(t *testing.T, served []byte) *contract {
	t.Helper()
	file, err := os.ReadFile("openapi.yaml")
	need.Must(t, err)
	if !bytes.Equal(file, served) {
		t.Fatal("the description that is served is not openapi.yaml")
	}
	doc, err := openapi3.NewLoader().LoadFromData(served)
	need.Must(t, err)
	need.Must(t, doc.Validate(t.Context()))
	router, err := gorillamux.NewRouter(doc)
	need.Must(t, err)
	return &contract{doc, router, map[string]bool{}}
}

// check compares an answer with the description.
func (c *contract) check(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	route, params, err := c.router.FindRoute(r)
	if err != nil { // a method that no route has: the path's GET or POST describes 405
		described := r.Clone(t.Context())
		for _, described.Method = range []string{"GET", "POST"} {
			if route, params, err = c.router.FindRoute(described); err == nil {
				break
			}
		}
		if err != nil || w.Code != http.StatusMethodNotAllowed {
			t.Fatalf("%s %s: %v", r.Method, r.URL, err)
		}
		r = described
	}
	contentType, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	if r.Method == http.MethodHead {
		contentType = ""
	}
	c.seen[fmt.Sprintf("%s %s %d %s", route.Method, route.Path, w.Code, contentType)] = true
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 w.Code,
		Header:                 w.Header(),
		Body:                   io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		t.Errorf("%s %s answers %d %s: %v", r.Method, r.URL, w.Code, w.Body, err)
	}
	if w.Code >= 400 && r.Method != http.MethodHead {
		c.checkProblem(t, w)
	}
}

func (c *contract) checkProblem(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	p := clitest.Decode[problem](t, w.Body.String())
	name, _ := strings.CutPrefix(p.Type, "/openapi.yaml#/components/responses/")
	if c.doc.Components.Responses[name] == nil || p.Title != http.StatusText(w.Code) || p.Status != w.Code || p.Detail == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("problem of a %d: %+v, %v", w.Code, p, w.Header())
	}
}

// TestOpenAPI sends requests to every route, for every status that the description
// has, and compares the answers with it. It fails if an answer that is described was
// not seen.
func TestOpenAPI(t *testing.T) {
	all := newCatalog(t)
	open := newHandler(t, all, service.Config{Limits: service.Limits{Wait: time.Millisecond}})
	patient := newHandler(t, all, service.Config{})
	closed := newHandler(t, all, service.Config{ClientCerts: true, Tokens: []service.Token{
		{Name: "any", Hash: sha256.Sum256([]byte("any-token"))},
		{Name: "orders", Hash: sha256.Sum256([]byte("orders-token")), May: func(name string) bool { return name == "orders" }},
	}})
	c := newContract(t, ask(open, "GET", "/openapi.yaml").Body.Bytes())

	send := func(h http.Handler, want int, method, target, body string, header ...string) {
		t.Helper()
		r, w := request(method, target, body, header...), httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s %s answers %d %s, want %d", method, target, w.Code, w.Body, want)
		}
		if strings.Contains(w.Body.String(), servicetest.Secret) {
			t.Errorf("%s %s tells a secret: %s", method, target, w.Body)
		}
		c.check(t, r, w)
	}
	for _, route := range []struct {
		method, path, good string
		bad                []string // queries, and whole targets
	}{
		{"GET", "/v1/%s", "cached", []string{
			"?n=0", "?n=-1", "?n=", "?n=1.5", "?n=10001", "?n=99999999999999999999", "?n=1&n=2", "?N=5", "?format=xml", "?n=1;x", "?n=%zz", "?token=" + servicetest.Secret}},
		{"HEAD", "/v1/%s", "cached", []string{"?n=x"}},
		{"POST", "/v1/%s/runs", "cached", []string{"?n=0", "?n=10001", "?n=x"}},
		{"GET", "/v1/%s/parse/117093590311632896", "cached", []string{
			"/v1/cached/parse/x", "/v1/cached/parse/-1", "/v1/cached/parse/0", "/v1/cached/parse/9223372036854775808"}},
		{"GET", "/v1/%s/parse/117", "orders", nil},
		{"GET", "/api/segment/get/%s", "orders", nil},
		{"GET", "/api/snowflake/get/%s", "cached", nil},
		{"GET", "/decodeSnowflakeId?snowflakeId=1529557464100986967", "", []string{
			"/decodeSnowflakeId", "/decodeSnowflakeId?snowflakeId=x", "/decodeSnowflakeId?snowflakeId=-1"}},
		{"GET", "/openapi.yaml", "", nil},
	} {
		path := func(name string) string { return strings.Replace(route.path, "%s", name, 1) }
		m, good := route.method, path(route.good)
		send(open, 200, m, good, "")
		send(open, 413, m, good, "a body")
		query := good + "?"
		if strings.Contains(good, "?") {
			query = good + "&"
		}
		send(open, 414, m, query+strings.Repeat("9", 2048), "")
		for _, bad := range route.bad {
			if bad[0] == '?' {
				bad = good + bad
			}
			send(open, 400, m, bad, "")
		}
		if m != "HEAD" {
			send(open, 405, "DELETE", good, "")
		}
		if good == "/openapi.yaml" {
			continue
		}
		send(closed, 401, m, good, "")
		send(closed, 401, m, good, "", "Authorization: Bearer wrong")
		send(closed, 401, m, good, "", "Authorization: Basic any-token")
		send(closed, 401, m, good, "", "Authorization: any-token")
		send(closed, 401, m, good, "", "Authorization: Bearer any-token", "Authorization: Bearer any-token")
		send(closed, 200, m, good, "", "Authorization: bearer  any-token ")
		rated := newHandler(t, all, service.Config{Limits: service.Limits{Requests: 0.001, Burst: 1}})
		send(rated, 200, m, good, "")
		send(rated, 429, m, good, "")
		if route.good == "" {
			continue
		}
		send(open, 404, m, path("nobody"), "")
		send(closed, 403, m, path("nobody"), "", "Authorization: Bearer orders-token")
		send(open, 500, m, path("lost"), "")
		send(open, 503, m, path("unavailable"), "")
	}
	for _, name := range []string{"ended", "used-up", "rewound"} {
		send(open, 500, "GET", "/v1/"+name, "")
	}
	for _, name := range []string{"broken", "closed", "hangs"} {
		send(open, 503, "GET", "/v1/"+name, "")
	}
	for name, n := range map[string]int{"cached": 10_000, "orders": 10_000, "slots": 9, "default": 9} {
		target := fmt.Sprintf("/v1/%s?n=%d", name, n)
		send(patient, 200, "GET", target, "")
		send(patient, 200, "GET", target, "", "Accept: application/json, text/plain, */*")
		send(patient, 200, "GET", target+"&format=text", "", "Accept: application/json")
		send(patient, 200, "POST", fmt.Sprintf("/v1/%s/runs?n=%d&format=json", name, n), "")
	}
	send(open, 404, "GET", "/api/segment/get/cached", "")
	send(open, 404, "GET", "/api/snowflake/get/orders", "")

	for path, item := range c.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				types := slices.Collect(maps.Keys(response.Value.Content))
				if len(types) == 0 {
					types = []string{""}
				}
				for _, contentType := range types {
					if answer := fmt.Sprintf("%s %s %s %s", method, path, status, contentType); !c.seen[answer] {
						t.Errorf("no request got the answer that is described: %s", answer)
					}
				}
			}
		}
	}
}
