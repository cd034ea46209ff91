package uidstatus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidstatus"
	"github.com/uidring/uidring/worker/lease"
)

// The page stands beside an app's own handlers, behind the app's authentication.
func ExampleNew() {
	gen, err := uid.NewCached(context.Background(), lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
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
	status, err := uidstatus.New(map[string]uid.Reporter{"orders": gen}, uidstatus.Config{Hosts: []string{"ops.example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/debug/uid/", onlyOperators(status))

	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://ops.example.com/debug/uid/stats.json", nil)
	r.SetBasicAuth("operator", "secret")
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, strings.Contains(w.Body.String(), `"worker_number":7`))
	// Output: 200 true
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

// Tags of package segment stand on the page too, in a table.
func ExampleConfig() {
	tags, err := segment.NewTags(new(segmenttest.Memory), segment.TagsConfig{Config: segment.Config{Create: true}})
	if err != nil {
		log.Fatal(err)
	}
	defer tags.Close()
	if _, err := tags.Next(context.Background(), "orders"); err != nil {
		log.Fatal(err)
	}
	page, err := uidstatus.New(nil, uidstatus.Config{More: func() map[string]uid.Stats {
		all := map[string]uid.Stats{}
		for _, s := range tags.Stats() {
			all[s.Loads.Tag] = s
		}
		return all
	}})
	if err != nil {
		log.Fatal(err)
	}
	var document struct {
		Generators []struct {
			Name    string
			Figures struct {
				Issued int64 `json:"ids_issued_total"`
			}
		}
	}
	if err := json.Unmarshal([]byte(page.String()), &document); err != nil {
		log.Fatal(err)
	}
	fmt.Println(document.Generators)
	// Output: [{orders {1}}]
}
