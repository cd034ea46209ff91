// Package api serves ids over HTTP: the routes of /v1, those of Leaf, and their
// description in OpenAPI.
//
// A slow client holds no place and no lock: ids are drawn before the first byte is written.
//
// After a request, its Pattern names the route, for metrics.
package api

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// MaxURI is how many bytes a request's URI has at most.
const MaxURI = 2048

// Description is the API in OpenAPI.
//
//go:embed openapi.yaml
var Description []byte

// api answers requests with what its service draws.
type api struct{ *service.Service }

// New returns a handler of all routes, and of others, by their patterns. Of these, only those
// without a method may take a body. It answers 404 to any other path, so mount it at /, and 405 to
// any other method. No answer may be cached.
func New(s *service.Service, others map[string]http.Handler) http.Handler {
	a, mux := api{s}, http.NewServeMux()
	allow := map[string]string{}
	add := func(pattern string, h http.Handler) {
		mux.Handle(pattern, h)
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			return
		}
		allow[path] += ", " + method
		if method == http.MethodGet {
			allow[path] += ", " + http.MethodHead
		}
	}
	handle := func(pattern string, f func(http.ResponseWriter, *http.Request, service.Caller) error) {
		add(pattern, handler(func(w http.ResponseWriter, r *http.Request) error {
			caller, err := Admit(s, w, r)
			if err != nil {
				return err
			}
			return f(w, r, caller)
		}))
	}
	handle("GET /v1/{name}", a.ids)
	handle("POST /v1/{name}/runs", a.runs)
	handle("GET /v1/{name}/parse/{id}", a.parse)
	handle("GET /api/segment/get/{name}", a.leaf(true, "a counter"))
	handle("GET /api/snowflake/get/{name}", a.leaf(false, "a generator whose ids carry a time"))
	handle("GET /decodeSnowflakeId", leafDecode)
	add("GET /openapi.yaml", handler(openapi))
	for pattern, h := range others {
		if strings.Contains(pattern, " ") {
			add(pattern, handler(func(w http.ResponseWriter, r *http.Request) error {
				h.ServeHTTP(w, r)
				return nil
			}))
			continue
		}
		add(pattern, h)
	}
	for path, methods := range allow {
		methods = strings.TrimPrefix(methods, ", ")
		mux.Handle(path, handler(func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Allow", methods)
			return &service.Error{Kind: methodNotAllowed, Detail: fmt.Sprintf("method %.20q is not for this path, want %s", r.Method, methods)}
		}))
	}
	mux.Handle("/", handler(nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = noStore
		// Mux would redirect a path that is not clean, and has no problem for CONNECT and *.
		if at := r.URL.EscapedPath(); !strings.HasPrefix(at, "/") || strings.Contains(at, "//") || strings.Contains(at, "/.") {
			r.Pattern = "/"
			handler(nil).ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// handler answers with a problem if its function returns an error, which it does
// before it writes anything. It refuses what no route takes. A nil handler is no route.
type handler func(http.ResponseWriter, *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch {
	case len(r.RequestURI) > MaxURI:
		err = &service.Error{Kind: uriTooLong, Detail: fmt.Sprintf("the URI has %d bytes, want %d at most", len(r.RequestURI), MaxURI)}
	case h == nil:
		err = &service.Error{Kind: service.Unknown, Detail: fmt.Sprintf("there is no route %.200q", r.URL.EscapedPath())}
	case r.ContentLength != 0:
		err = &service.Error{Kind: bodyTooLarge, Detail: "the request has a body, want none: parameters stand in the URI"}
	default:
		err = h(w, r)
	}
	if err == nil {
		return
	}
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close") // else net/http waits for the body before it answers
	}
	if kind := r.Header.Get("Content-Type"); r.Method == http.MethodPost && strings.HasPrefix(kind, "application/grpc") {
		unimplemented(w, kind)
		return
	}
	WriteProblem(w, err)
}

// unimplemented answers a call of gRPC that no route takes, by headers alone.
func unimplemented(w http.ResponseWriter, kind string) {
	if o, ok := w.(Observer); ok {
		o.Failed(&service.Error{Kind: service.Unknown})
	}
	w.Header()["Content-Type"] = []string{kind}
	w.Header()["Grpc-Status"], w.Header()["Grpc-Message"] = []string{"12"}, []string{"there is no such method"}
	w.WriteHeader(http.StatusOK)
}

// Values of headers. They are shared by all answers and never change.
var (
	noStore   = []string{"no-store"}
	plainText = []string{"text/plain; charset=utf-8"}
	jsonText  = []string{"application/json"}
	yamlText  = []string{"application/yaml"}
)

// openapi tells nothing about the generators, so it is for everyone.
func openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header()["Content-Type"] = yamlText
	_, _ = w.Write(Description) // a client that is gone reads no error
	return nil
}
