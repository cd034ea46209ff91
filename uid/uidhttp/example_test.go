package uidhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidhttp"
)

// The page stands beside the handlers of an app, behind whatever asks its users
// who they are.
func ExampleHandler() {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(7), uid.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()

	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		id, err := gen.Next()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, id)
	})
	status := uidhttp.Handler(map[string]uidhttp.Generator{"orders": gen})
	mux.Handle("/debug/uid/", onlyOperators(status))

	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/debug/uid/decode.json?id=5313046343901185", nil)
	r.SetBasicAuth("operator", "secret")
	mux.ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output: {"name":"orders","id":"5313046343901185","time":"2026-01-02T18:57:10Z","tick":154630,"worker":7,"sequence":1}
}

// onlyOperators stands for an app's own authentication.
func onlyOperators(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, _, ok := r.BasicAuth(); !ok || name != "operator" {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "operators only", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}
